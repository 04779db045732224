"""The commands that the model knows, and how many words each has."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from badluck.simulated import (
    bits,
    claims,
    collections,
    field_expiry,
    floats,
    generic,
    groups,
    lists,
    scans,
    sorted_ranges,
    sorted_sets,
    streams,
    strings,
)
from badluck.simulated.keyspace import Keyspace
from badluck.simulated.values import Command, Refused, Reply


class Known(NamedTuple):
    """`words` as the server's own COMMAND says it: exactly so many, or at least, if negative."""

    words: int
    do: Callable[[Keyspace, Command], Reply]


def of_the_server(_: Keyspace, command: Command) -> Reply:
    raise AssertionError(f"{command[0].decode()} is the server's own")


TABLE: dict[bytes, Known] = {
    b"PING": Known(-1, of_the_server),
    b"TIME": Known(1, generic.time),
    b"DEL": Known(-2, generic.delete),
    b"UNLINK": Known(-2, generic.delete),
    b"EXISTS": Known(-2, generic.exists),
    b"TYPE": Known(2, generic.type_),
    b"EXPIRE": Known(-3, generic.expire),
    b"PEXPIRE": Known(-3, generic.expire),
    b"EXPIREAT": Known(-3, generic.expire),
    b"PEXPIREAT": Known(-3, generic.expire),
    b"PERSIST": Known(2, generic.persist),
    b"TTL": Known(2, generic.ttl),
    b"PTTL": Known(2, generic.ttl),
    b"RENAME": Known(3, generic.rename),
    b"RENAMENX": Known(3, generic.rename),
    b"KEYS": Known(2, scans.keys_),
    b"SCAN": Known(-2, scans.scan),
    b"GET": Known(2, strings.get),
    b"SET": Known(-3, strings.set_),
    b"SETNX": Known(3, strings.setnx),
    b"SETEX": Known(4, strings.setex),
    b"PSETEX": Known(4, strings.setex),
    b"GETSET": Known(3, strings.getset),
    b"GETDEL": Known(2, strings.getdel),
    b"GETEX": Known(-2, strings.getex),
    b"MGET": Known(-2, strings.mget),
    b"MSET": Known(-3, strings.mset),
    b"MSETNX": Known(-3, strings.msetnx),
    b"INCR": Known(2, strings.add),
    b"DECR": Known(2, strings.add),
    b"INCRBY": Known(3, strings.add),
    b"DECRBY": Known(3, strings.add),
    b"INCRBYFLOAT": Known(3, floats.add),
    b"APPEND": Known(3, strings.append),
    b"STRLEN": Known(2, strings.strlen),
    b"SETBIT": Known(4, bits.set_),
    b"GETBIT": Known(3, bits.get),
    b"BITCOUNT": Known(-2, bits.count),
    b"LPUSH": Known(-3, lists.push),
    b"RPUSH": Known(-3, lists.push),
    b"LPUSHX": Known(-3, lists.push),
    b"RPUSHX": Known(-3, lists.push),
    b"LPOP": Known(-2, lists.pop),
    b"RPOP": Known(-2, lists.pop),
    b"LMPOP": Known(-4, lists.pop_first),
    b"LMOVE": Known(5, lists.move),
    b"RPOPLPUSH": Known(3, lists.move),
    b"LLEN": Known(2, lists.length),
    b"LRANGE": Known(4, lists.range_),
    b"LINDEX": Known(3, lists.index),
    b"LSET": Known(4, lists.set_),
    b"LTRIM": Known(4, lists.trim),
    b"LREM": Known(4, lists.remove),
    b"LPOS": Known(-3, lists.position),
    b"SADD": Known(-3, collections.sadd),
    b"SREM": Known(-3, collections.srem),
    b"SISMEMBER": Known(3, collections.sismember),
    b"SMISMEMBER": Known(-3, collections.smismember),
    b"SINTER": Known(-2, collections.combined),
    b"SUNION": Known(-2, collections.combined),
    b"SDIFF": Known(-2, collections.combined),
    b"SCARD": Known(2, collections.scard),
    b"SMEMBERS": Known(2, collections.smembers),
    b"SPOP": Known(-2, collections.spop),
    b"SRANDMEMBER": Known(-2, collections.srandmember),
    b"SMOVE": Known(4, collections.smove),
    b"SSCAN": Known(-3, scans.scan_in),
    b"HSET": Known(-4, collections.hset),
    b"HMSET": Known(-4, collections.hset),
    b"HSETNX": Known(4, collections.hsetnx),
    b"HGET": Known(3, collections.hget),
    b"HMGET": Known(-3, collections.hmget),
    b"HGETALL": Known(2, collections.hgetall),
    b"HDEL": Known(-3, collections.hdel),
    b"HEXISTS": Known(3, collections.hexists),
    b"HLEN": Known(2, collections.hlen),
    b"HVALS": Known(2, collections.hvals),
    b"HKEYS": Known(2, collections.hkeys),
    b"HINCRBY": Known(4, collections.hincrby),
    b"HINCRBYFLOAT": Known(4, floats.add_in_hash),
    b"HSCAN": Known(-3, scans.scan_in),
    b"HEXPIRE": Known(-6, field_expiry.expire),
    b"HPEXPIRE": Known(-6, field_expiry.expire),
    b"HEXPIREAT": Known(-6, field_expiry.expire),
    b"HPEXPIREAT": Known(-6, field_expiry.expire),
    b"HTTL": Known(-5, field_expiry.ttl),
    b"HPTTL": Known(-5, field_expiry.ttl),
    b"HPERSIST": Known(-5, field_expiry.persist),
    b"ZADD": Known(-4, sorted_sets.add),
    b"ZREM": Known(-3, sorted_sets.remove),
    b"ZSCORE": Known(3, sorted_sets.score),
    b"ZMSCORE": Known(-3, sorted_sets.score),
    b"ZINCRBY": Known(4, sorted_sets.add),
    b"ZRANK": Known(-3, sorted_sets.rank),
    b"ZREVRANK": Known(-3, sorted_sets.rank),
    b"ZPOPMIN": Known(-2, sorted_sets.pop),
    b"ZPOPMAX": Known(-2, sorted_sets.pop),
    b"ZMPOP": Known(-4, sorted_sets.pop_first),
    b"ZLEXCOUNT": Known(4, sorted_ranges.count),
    b"ZRANGEBYLEX": Known(-4, sorted_ranges.range_),
    b"ZREVRANGEBYLEX": Known(-4, sorted_ranges.range_),
    b"ZREMRANGEBYLEX": Known(4, sorted_ranges.remove),
    b"ZCOUNT": Known(4, sorted_ranges.count),
    b"ZREVRANGE": Known(-4, sorted_ranges.range_),
    b"ZREVRANGEBYSCORE": Known(-4, sorted_ranges.range_),
    b"ZREMRANGEBYSCORE": Known(4, sorted_ranges.remove),
    b"ZREMRANGEBYRANK": Known(4, sorted_ranges.remove),
    b"ZSCAN": Known(-3, scans.scan_in),
    b"ZCARD": Known(2, sorted_sets.cardinality),
    b"ZRANGE": Known(-4, sorted_ranges.range_),
    b"ZRANGEBYSCORE": Known(-4, sorted_ranges.range_),
    b"XADD": Known(-5, streams.add),
    b"XLEN": Known(2, streams.length),
    b"XRANGE": Known(-4, streams.range_),
    b"XREVRANGE": Known(-4, streams.range_),
    b"XDEL": Known(-3, streams.delete),
    b"XINFO": Known(-2, streams.info),
    b"XGROUP": Known(-2, groups.group),
    b"XACK": Known(-4, groups.acknowledge),
    b"XPENDING": Known(-3, claims.summary),
    b"XCLAIM": Known(-6, claims.claim),
    b"XAUTOCLAIM": Known(-6, claims.claim_next),
    b"XSETID": Known(-3, streams.set_id),
    b"MULTI": Known(1, of_the_server),
    b"EXEC": Known(1, of_the_server),
    b"DISCARD": Known(1, of_the_server),
    b"WATCH": Known(-2, of_the_server),
    b"UNWATCH": Known(1, of_the_server),
    b"EVAL": Known(-3, of_the_server),
    b"EVALSHA": Known(-3, of_the_server),
    b"SCRIPT": Known(-2, of_the_server),
    b"BLPOP": Known(-3, of_the_server),
    b"BRPOP": Known(-3, of_the_server),
    b"BLMPOP": Known(-5, of_the_server),
    b"BZMPOP": Known(-5, of_the_server),
    b"BLMOVE": Known(6, of_the_server),
    b"BRPOPLPUSH": Known(4, of_the_server),
    b"BZPOPMIN": Known(-3, of_the_server),
    b"BZPOPMAX": Known(-3, of_the_server),
    b"XREAD": Known(-4, of_the_server),
    b"XREADGROUP": Known(-7, of_the_server),
    b"WAIT": Known(3, of_the_server),
    b"SUBSCRIBE": Known(-2, of_the_server),
    b"UNSUBSCRIBE": Known(-1, of_the_server),
    b"PUBLISH": Known(3, of_the_server),
    b"SSUBSCRIBE": Known(-2, of_the_server),
    b"SUNSUBSCRIBE": Known(-1, of_the_server),
    b"SPUBLISH": Known(3, of_the_server),
}


# How many words there must be when the second is this one.
OF_THE_SECOND = {
    (b"XGROUP", b"CREATE"): -5,
    (b"XGROUP", b"SETID"): -5,
    (b"XGROUP", b"DESTROY"): 4,
    (b"XGROUP", b"DELCONSUMER"): 5,
}


def check(command: Command) -> None:
    """Raises Refused for a wrong number of words, NotImplementedError for an unknown command."""
    known = TABLE.get(command[0])
    if known is None:
        raise NotImplementedError(command[0].decode())
    words = known.words
    if command[0] == b"XGROUP" and len(command) > 1:
        words = OF_THE_SECOND.get((command[0], command[1].upper()), words)
    if len(command) < abs(words) or len(command) > words > 0:
        name = command[0].decode().lower()
        raise Refused(f"ERR wrong number of arguments for '{name}' command")
