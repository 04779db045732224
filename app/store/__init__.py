"""Redis or Valkey, and the database: clients, names, records, tables.

Functions that ask a server raise its client's errors: redis.RedisError, SQLAlchemy's. A caller
turns them into errors of the domain by `redis.answering()` (StoreAway) and `db.answering()`
(DatabaseAway). Functions that decode a record raise Unreadable.
"""
