"""db_unique: a row in a database with a unique name; the client that inserts it holds the lock.

How       INSERT (name, owner, until): refused if the name exists; DELETE WHERE owner = me
Prevents  two holders, a lock held forever by a dead holder, releasing another's lock
Breaks    work that outlives the lease: the next one enters while the first is still inside
Cost      a SELECT, an INSERT and a DELETE, the last two synced to disk; a SELECT for every poll
Sound     while the work is shorter than the lease
Taught    The second tutorial only names it as an alternative. Easily forgotten: the row does not go
          away with its owner. It needs an expiry time, and a clock that decides if it has passed.
"""

from __future__ import annotations

from typing import Unpack

from sqlalchemy import Delete, Engine, Update, delete, exists, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.locks.handle import LEASE_S, Handle, How
from app.store.sql.named_locks import LockRow, Now
from app.store.sql.transactions import Contended, Transactions

# Longest wait for other transactions. Short to acquire: another attempt follows. Long to release:
# no other attempt follows, and all buyers would wait until the lease ends.
AT_ATTEMPT_S = 0.05
AT_RELEASE_S = 5.0


class DbUnique(Handle):
    name = "db_unique"
    exhibit = False
    cost = (0, 0)
    tutorials = (2,)
    needs = "database"
    # A poll costs several times a poll of the store, and the release queues behind polls.
    poll_s = (0.005, 0.025)

    def __init__(
        self, engine: Engine, key: str, lease_s: float = LEASE_S, **how: Unpack[How]
    ) -> None:
        super().__init__(engine, key, lease_s, **how)
        self.database = Transactions(engine)
        self.token = self.clock.token()
        is_mine = (LockRow.name == self.key) & (LockRow.owner == self.token)
        self.mine = is_mine & (LockRow.until >= Now())

    def attempt(self) -> bool:
        # The database starts the lease later than now, so this end is early, never late.
        ends = self.clock.now() + self.lease_s
        try:
            # This look decides nothing, but is cheap: a refused INSERT would lock SQLite's file,
            # and leave a dead row in PostgreSQL until VACUUM.
            if not self.held(AT_ATTEMPT_S) and (self.insert() or self.take_over()):
                self.ends = ends
                return True
        except Contended:
            pass  # another transaction has the row or the file: try again later
        return False

    def insert(self) -> bool:
        row = {"name": self.key, "owner": self.token, "until": Now() + self.lease_s}
        try:
            with self.database.begin(AT_ATTEMPT_S) as sql:
                sql.execute(insert(LockRow).values(row))
        except IntegrityError:
            return False  # the name exists: a client holds the lock, or held it and died
        return True

    def take_over(self) -> bool:
        """Take over an expired lease. If several clients try, only one UPDATE finds it expired."""
        with self.database.begin(AT_ATTEMPT_S) as sql:
            taken = sql.execute(
                update(LockRow)
                .where(LockRow.name == self.key, LockRow.until < Now())
                .values(owner=self.token, until=Now() + self.lease_s)
            )
        return bool(taken.rowcount)

    def free(self) -> bool:
        # A row whose lease is over stays: the next client takes it over.
        return self._write(delete(LockRow).where(self.mine))

    def extend(self, lease_s: float) -> bool:
        """Let the lease end `lease_s` from now. False: the lock is lost, and nothing changed."""
        ends = self.clock.now() + lease_s
        if self._write(update(LockRow).where(self.mine).values(until=Now() + lease_s)):
            self.ends = ends
            return True
        self.lose()
        return False

    def owned(self) -> bool:
        """Ask the database whether this handle holds the lock."""
        with self.database.begin(AT_RELEASE_S) as sql:
            return bool(sql.scalar(select(exists().where(self.mine))))

    def locked(self) -> bool:
        """Ask the database whether any client holds the lock."""
        return self.held(AT_RELEASE_S)

    def held(self, wait_s: float) -> bool:
        named = LockRow.name == self.key
        with self.database.begin(wait_s) as sql:
            return bool(sql.scalar(select(exists().where(named, LockRow.until >= Now()))))

    def _write(self, statement: Delete | Update) -> bool:
        """Execute the statement. Return whether it found a row."""
        with self.database.begin(AT_RELEASE_S) as sql:
            return bool(sql.execute(statement).rowcount)
