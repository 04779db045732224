"""The commands that cannot share a connection: each borrows one of its own from the pool.

By their first word. Pipelines, transactions, pub/sub and MONITOR objects borrow one by themselves.
"""

_REASONS = {
    "it may wait, and all replies behind it with it": (
        "BLMOVE BLMPOP BLPOP BRPOP BRPOPLPUSH BZMPOP BZPOPMAX BZPOPMIN DEBUG MIGRATE WAIT WAITAOF "
        "XREAD XREADGROUP"
    ),
    "it leaves something with the connection": (
        "ASKING AUTH CLIENT DISCARD EXEC HELLO HIMPORT MULTI READONLY READWRITE RESET SELECT "
        "UNWATCH WATCH"
    ),
    "it is not answered exactly once": (
        "MONITOR PSUBSCRIBE PSYNC PUNSUBSCRIBE QUIT REPLCONF SHUTDOWN SSUBSCRIBE SUBSCRIBE "
        "SUNSUBSCRIBE SYNC UNSUBSCRIBE"
    ),
    "its KILL must overtake the script that hangs": "FUNCTION SCRIPT",
}
OWN = {name: reason for reason, names in _REASONS.items() for name in names.split()}
