"""db_unique: a row in a database with a unique name; whoever inserts it holds the lock.

How       INSERT (name, owner, until): refused while there is one; DELETE WHERE owner = me
Prevents  two holders, a lock held for ever by a dead holder, releasing another's lock
Breaks    work that outlives the lease: the next one enters while the first is still inside
Cost      two transactions, each synced to disk, and two for every poll while another holds it
          (on PostgreSQL each refused INSERT leaves a dead row behind, until VACUUM)
Sound     while the work is shorter than the lease
"""

from __future__ import annotations

from sqlalchemy import (
    ColumnElement,
    Delete,
    Update,
    delete,
    exists,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from app.domain import Clock, DatabaseAway
from app.locks.handle import Handle
from app.store.named_locks import LockRow, now
from app.store.servers import Servers
from app.store.transactions import Contended

# s to wait for others' transactions: short to acquire, as there will be another attempt; long to
# release, as there will not, and all would wait for the lease.
AT_ATTEMPT = 0.05
AT_RELEASE = 5.0


class DbUnique(Handle):
    name = "db_unique"
    exhibit = False
    needs = "database"

    def __init__(self, servers: Servers, clock: Clock, key: str, lease: float) -> None:
        super().__init__(servers, clock, key, lease)
        self.database = servers.transactions
        self.token = clock.token()
        self.mine = (LockRow.name == key) & (LockRow.owner == self.token)

    def attempt(self) -> bool:
        # The lease begins when the database writes it: later than this moment, so we err early.
        ends = self.clock.now() + self.lease
        try:
            if not (self.insert() or self.take_over()):
                return False
        except Contended:
            return False
        self.ends = ends
        return True

    def insert(self) -> bool:
        try:
            with self.database.begin(AT_ATTEMPT) as sql:
                sql.execute(
                    insert(LockRow).values(
                        name=self.key, owner=self.token, until=now() + self.lease
                    )
                )
        except IntegrityError:
            return False  # the name is there: somebody holds it, or held it and died
        return True

    def take_over(self) -> bool:
        """Of many who see that the lease is over, one finds the row still so when he writes."""
        with self.database.begin(AT_ATTEMPT) as sql:
            taken = sql.execute(
                update(LockRow)
                .where(LockRow.name == self.key, LockRow.until < now())
                .values(owner=self.token, until=now() + self.lease)
            )
        return bool(taken.rowcount)

    def free(self) -> bool:
        # Also true when the lease is over and nobody has taken over: nobody else was inside.
        return self._write(delete(LockRow).where(self.mine))

    def extend(self, seconds: float) -> bool:
        """Let the lease end `seconds` from now. False, and nothing done: not mine any more."""
        ends = self.clock.now() + seconds
        if self._write(update(LockRow).where(self.mine).values(until=now() + seconds)):
            self.ends = ends
            return True
        self.lose()
        return False

    def owned(self) -> bool:
        """Ask the database: is it mine?"""
        return self._there(self.mine & (LockRow.until >= now()))

    def locked(self) -> bool:
        """Ask the database: is it anybody's?"""
        return self._there((LockRow.name == self.key) & (LockRow.until >= now()))

    def _write(self, statement: Delete | Update) -> bool:
        """Did it find a row? Raises DatabaseAway, also when the database keeps us waiting."""
        try:
            with self.database.begin(AT_RELEASE) as sql:
                return bool(sql.execute(statement).rowcount)
        except Contended as error:
            raise DatabaseAway(f"The database keeps {self.key} waiting: {error}") from error

    def _there(self, condition: ColumnElement[bool]) -> bool:
        with self.database.begin(AT_RELEASE) as sql:
            return bool(sql.scalar(select(exists().where(condition))))
