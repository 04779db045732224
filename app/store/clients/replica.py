"""Wait until a replica has what the store was told: DURABILITY=replicated.

WAIT, not WAITAOF: a replica says how far its log is synced before it syncs what came with the
question, and then not again for a second (docs/decisions/durability.md).
"""

from __future__ import annotations

import redis

from app.store import keys
from app.store.clients.cluster import Cluster

PATIENCE = 3 / 4  # of the time-out for an answer: the server's "no" shall still be heard


class NotCopied(redis.TimeoutError):
    """No replica has said in time that it has it. It may have it all the same, or get it later."""


def wait(store: redis.Redis, item: str, timeout_ms: int, *written: str) -> None:
    """Until one replica has all that the item's node was told before, by whomever.

    `written` are keys that must be there, too: else another server has taken over since they were
    written, which has not heard of them, and has a replica of its own by now. One round trip.
    Raises NotCopied, redis.RedisError.
    """
    name = keys.copied(item)
    node = store.topology.node_of(name) if isinstance(store, Cluster) else store
    pipe = node.pipeline(transaction=False)
    # The server waits for what this connection has written, and the sale may have gone over
    # another one, days ago. So this one writes, and what was written before is copied before.
    pipe.set(name, 1)
    pipe.execute_command("WAIT", 1, int(timeout_ms * PATIENCE))
    pipe.exists(*written, name)
    _, replicas, existing = pipe.execute()
    if not replicas:
        raise NotCopied("No replica has confirmed it in time.")
    if existing <= len(written):
        raise NotCopied("Another server has taken over, which does not know of it.")
