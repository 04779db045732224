"""Redis or Valkey, and the database: clients, names, records, tables.

What asks a server raises its client's errors: redis.RedisError, SQLAlchemy's. A caller makes words
of the domain of them, by `redis.answering()` (StoreAway) and `db.answering()` (DatabaseAway). What
decodes a record raises Unreadable.
"""
