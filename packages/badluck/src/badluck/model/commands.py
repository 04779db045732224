"""The commands that the model supports, and how many words each has."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import NamedTuple

from badluck.model import (
    bits,
    collections,
    combined,
    field_expiry,
    floats,
    generic,
    groups,
    lists,
    pending_claims,
    scans,
    sorted_ranges,
    sorted_sets,
    streams,
    strings,
)
from badluck.model.collections import fields_of, members_of
from badluck.model.keyspace import Keyspace
from badluck.model.parsing import CommandRefused
from badluck.model.sorted_sets import scores_of
from badluck.model.values import Command, Reply, Stream


class CommandSpec(NamedTuple):
    """`words` as in the server's own COMMAND: exactly so many, or at least, if negative."""

    words: int
    do: Callable[[Keyspace, Command], Reply]


def of_the_server(_: Keyspace, command: Command) -> Reply:
    raise AssertionError(f"{command[0].decode()} is the server's own")


COMMANDS: dict[Callable[[Keyspace, Command], Reply], str] = {  # name and words
    generic.time: "TIME 1",
    generic.delete: "DEL -2, UNLINK -2",
    generic.type_: "TYPE 2",
    generic.expire: "EXPIRE -3, PEXPIRE -3, EXPIREAT -3, PEXPIREAT -3",
    generic.persist: "PERSIST 2",
    generic.expiry: "TTL 2, PTTL 2, EXPIRETIME 2, PEXPIRETIME 2",
    generic.copy: "COPY -3",
    generic.rename: "RENAME 3, RENAMENX 3",
    generic.flush: "FLUSHDB -1, FLUSHALL -1",
    scans.keys_: "KEYS 2",
    scans.scan: "SCAN -2",
    strings.set_: "SET -3",
    strings.setnx: "SETNX 3",
    strings.setex: "SETEX 4, PSETEX 4",
    strings.getset: "GETSET 3",
    strings.getdel: "GETDEL 2",
    strings.getex: "GETEX -2",
    strings.mget: "MGET -2",
    strings.mset: "MSET -3",
    strings.msetnx: "MSETNX -3",
    strings.add: "INCR 2, DECR 2, INCRBY 3, DECRBY 3",
    floats.add: "INCRBYFLOAT 3",
    strings.append: "APPEND 3",
    strings.getrange: "GETRANGE 4",
    strings.setrange: "SETRANGE 4",
    bits.set_: "SETBIT 4",
    bits.get: "GETBIT 3",
    bits.count: "BITCOUNT -2",
    lists.push: "LPUSH -3, RPUSH -3, LPUSHX -3, RPUSHX -3",
    lists.pop: "LPOP -2, RPOP -2",
    lists.pop_first: "LMPOP -4",
    lists.move: "LMOVE 5, RPOPLPUSH 3",
    lists.range_: "LRANGE 4",
    lists.insert: "LINSERT 5",
    lists.index: "LINDEX 3",
    lists.set_: "LSET 4",
    lists.trim: "LTRIM 4",
    lists.remove: "LREM 4",
    lists.position: "LPOS -3",
    collections.sadd: "SADD -3",
    collections.srem: "SREM -3",
    collections.smismember: "SMISMEMBER -3",
    combined.sets: "SINTER -2, SUNION -2, SDIFF -2",
    combined.sets_stored: "SINTERSTORE -3, SUNIONSTORE -3, SDIFFSTORE -3",
    combined.cardinality: "SINTERCARD -3, ZINTERCARD -3",
    collections.spop: "SPOP -2",
    collections.srandmember: "SRANDMEMBER -2",
    collections.smove: "SMOVE 4",
    scans.scan_in: "SSCAN -3, HSCAN -3, ZSCAN -3",
    collections.hset: "HSET -4, HMSET -4",
    collections.hsetnx: "HSETNX 4",
    collections.hdel: "HDEL -3",
    collections.hlen: "HLEN 2",
    collections.hincrby: "HINCRBY 4",
    floats.add_in_hash: "HINCRBYFLOAT 4",
    field_expiry.expire: "HEXPIRE -6, HPEXPIRE -6, HEXPIREAT -6, HPEXPIREAT -6",
    field_expiry.ttl: "HTTL -5, HPTTL -5",
    field_expiry.persist: "HPERSIST -5",
    sorted_sets.add: "ZADD -4, ZINCRBY 4",
    sorted_sets.remove: "ZREM -3",
    sorted_sets.score: "ZSCORE 3, ZMSCORE -3",
    sorted_sets.rank: "ZRANK -3, ZREVRANK -3",
    sorted_sets.pop: "ZPOPMIN -2, ZPOPMAX -2",
    sorted_sets.pop_first: "ZMPOP -4",
    sorted_ranges.count: "ZLEXCOUNT 4, ZCOUNT 4",
    sorted_ranges.range_: (
        "ZRANGEBYLEX -4, ZREVRANGEBYLEX -4, ZREVRANGE -4, ZREVRANGEBYSCORE -4, ZRANGE -4, "
        "ZRANGEBYSCORE -4"
    ),
    sorted_ranges.remove: "ZREMRANGEBYLEX 4, ZREMRANGEBYSCORE 4, ZREMRANGEBYRANK 4",
    sorted_ranges.store: "ZRANGESTORE -5",
    sorted_sets.random_member: "ZRANDMEMBER -2",
    combined.sorted_sets: "ZINTER -3, ZUNION -3, ZDIFF -3",
    combined.sorted_sets_stored: "ZINTERSTORE -4, ZUNIONSTORE -4, ZDIFFSTORE -4",
    streams.add: "XADD -5",
    streams.range_: "XRANGE -4, XREVRANGE -4",
    streams.delete: "XDEL -3",
    streams.trim: "XTRIM -4",
    streams.info: "XINFO -2",
    groups.group: "XGROUP -2",
    groups.acknowledge: "XACK -4",
    pending_claims.pending: "XPENDING -3",
    pending_claims.claim: "XCLAIM -6",
    pending_claims.claim_next: "XAUTOCLAIM -6",
    streams.set_id: "XSETID -3",
    of_the_server: (
        "PING -1, MULTI 1, EXEC 1, DISCARD 1, WATCH -2, UNWATCH 1, EVAL -3, EVALSHA -3, "
        "SCRIPT -2, BLPOP -3, BRPOP -3, BLMPOP -5, BZMPOP -5, BLMOVE 6, BRPOPLPUSH 4, "
        "BZPOPMIN -3, BZPOPMAX -3, XREAD -4, XREADGROUP -7, WAIT 3, SUBSCRIBE -2, "
        "UNSUBSCRIBE -1, PSUBSCRIBE -2, PUNSUBSCRIBE -1, PUBLISH 3, PUBSUB -2, SSUBSCRIBE -2, "
        "SUNSUBSCRIBE -1, SPUBLISH 3"
    ),
}
READS: dict[str, Callable[[Keyspace, Command], Reply]] = {  # of one value
    "EXISTS -2, TOUCH -2": lambda keys, command: sum(
        [keys.get(key) is not None for key in command[1:]]
    ),
    "GET 2": lambda keys, command: keys.value(command[1], bytes),
    "STRLEN 2": lambda keys, command: len(keys.value(command[1], bytes) or b""),
    "LLEN 2": lambda keys, command: len(keys.value(command[1], tuple) or ()),
    "SCARD 2": lambda keys, command: len(members_of(keys, command[1])),
    # In alphabetical order: the server's own order is unknown.
    "SMEMBERS 2": lambda keys, command: tuple(sorted(members_of(keys, command[1]))),
    "SISMEMBER 3": lambda keys, command: int(command[2] in members_of(keys, command[1])),
    "HGET 3": lambda keys, command: fields_of(keys, command[1]).get(command[2]),
    "HMGET -3": lambda keys, command: tuple(map(fields_of(keys, command[1]).get, command[2:])),
    "HGETALL 2": lambda keys, command: tuple(chain(*fields_of(keys, command[1]).items())),
    "HEXISTS 3": lambda keys, command: int(command[2] in fields_of(keys, command[1])),
    "HSTRLEN 3": lambda keys, command: len(fields_of(keys, command[1]).get(command[2], b"")),
    "HVALS 2": lambda keys, command: tuple(fields_of(keys, command[1]).values()),
    "HKEYS 2": lambda keys, command: tuple(fields_of(keys, command[1])),
    "ZCARD 2": lambda keys, command: len(scores_of(keys, command[1])),
    "XLEN 2": lambda keys, command: len(
        stream.entries if (stream := keys.value(command[1], Stream)) else ()
    ),
}
TABLE = {
    name.encode(): CommandSpec(int(words), do)
    for do, text in (*COMMANDS.items(), *((do, text) for text, do in READS.items()))
    for name, words in (command.split() for command in text.split(", "))
}
# How many words there must be with this second word.
OF_THE_SECOND = {
    (b"XGROUP", b"CREATE"): -5,
    (b"XGROUP", b"SETID"): -5,
    (b"XGROUP", b"DESTROY"): 4,
    (b"XGROUP", b"DELCONSUMER"): 5,
    (b"PUBSUB", b"NUMPAT"): 2,
}


def check(command: Command) -> None:
    """Raises CommandRefused for a wrong number of words, NotImplementedError if it is missing."""
    known = TABLE.get(command[0])
    if known is None:
        raise NotImplementedError(command[0].decode())
    words = known.words
    if command[0] in {b"XGROUP", b"PUBSUB"} and len(command) > 1:
        words = OF_THE_SECOND.get((command[0], command[1].upper()), words)
    if len(command) < abs(words) or len(command) > words > 0:
        name = command[0].decode().lower()
        raise CommandRefused(f"ERR wrong number of arguments for '{name}' command")
