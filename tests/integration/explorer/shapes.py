"""Templates of commands: words, of which some stand for a choice (MAKERS in grammar.py)."""

from __future__ import annotations

ANYWHERE = """
    DEL k; DEL k k; EXISTS k k; TYPE k; TTL k; PTTL k; PERSIST k; GET k; SET k v; PEXPIRE k t;
    EXPIRE k n; PEXPIRE k t NX; PEXPIRE k t XX; PEXPIRE k t GT; PEXPIRE k t LT; PING; PING v;
    RENAME k k; RENAMENX k k; GET; SET k; UNLINK k; PEXPIREAT k at; EXPIREAT k second; TIME;
    PEXPIREAT k t; EVAL text 1 k v; EVAL text 1 k v; EVALSHA sha 1 k v; SCRIPT LOAD text;
    TOUCH k k; PEXPIRETIME k; EXPIRETIME k; COPY k k; COPY k l REPLACE; COPY l k REPLACE;
    SCRIPT EXISTS sha sha; KEYS p; SCAN 0; SCAN 0 MATCH p COUNT 100; SCAN 0 TYPE string
"""
FAMILIES = {
    "strings": """
        SET k v NX; SET k v XX; SET k v PX t; SET k v NX PX t; SET k v EX n; SET k v GET;
        SET k v NX GET; SET k v KEEPTTL; SET k v PX; SET k v NX XX; SETNX k v; SETEX k n v;
        PSETEX k t v; GETSET k v; GETDEL k; MGET k k; MSET k v k v; MSET k v k; MSETNX k v k v;
        INCR k; DECR k; INCRBY k n; DECRBY k n; APPEND k v; STRLEN k; INCRBYFLOAT k f;
        INCRBYFLOAT k f; SET k f; SETBIT k bit 1; SETBIT k bit 0; SETBIT k n i; GETBIT k bit;
        GETBIT k n; BITCOUNT k; BITCOUNT k i i; BITCOUNT k n n BYTE; BITCOUNT k bit bit BIT;
        BITCOUNT k i i v; GETEX k; GETEX k PX t; GETEX k PERSIST; GETEX k EX n; GETEX k PXAT at;
        GETEX k PX; GETEX k EX 1 PERSIST; SET k v IFEQ v; SET k v IFEQ v GET PX t; SET k v IFEQ;
        SET k v IFEQ v NX; SET k v GET KEEPTTL; SET k v EXAT 1; SET k v PXAT at;
        SET k v PXAT 1 GET; SET k v PXAT 1 NX;
        GETRANGE k i n; GETRANGE k n i; GETRANGE k bit bit; GETRANGE k 0 -1; SETRANGE k i v;
        SETRANGE k bit v; SETRANGE k n v
    """,
    "lists": """
        LPUSH k v v; RPUSH k v; RPUSH k v v v; LPUSHX k v; RPUSHX k v; LPOP k; RPOP k; LPOP k n;
        RPOP k n; LMOVE k k LEFT RIGHT; LMOVE k k RIGHT LEFT; RPOPLPUSH k k; LMOVE k k UP DOWN;
        LLEN k; LRANGE k n n; LRANGE k 0 -1; LINDEX k n; LSET k i v; LTRIM k n n; LREM k n v;
        LPOS k v; LPOS k v RANK i; LPOS k v COUNT n; LPOS k v RANK n COUNT i MAXLEN n;
        LPOS k v COUNT; LINSERT k BEFORE v v; LINSERT k AFTER v v; LINSERT k NEAR v v;
        LMPOP 1 k LEFT; LMPOP 2 k k RIGHT COUNT n; LMPOP n k LEFT; LMPOP 1 k UP;
        LMPOP 1 k LEFT COUNT; BLMOVE k k LEFT RIGHT 1; BRPOPLPUSH k k 1
    """,
    "collections": """
        SADD k v; SADD k v v; SREM k v; SISMEMBER k v; SCARD k; SMEMBERS k;
        HSET k v v; HSET k v v v v;
        HSET k v v v; HSETNX k v v; HGET k v; HMGET k v v; HGETALL k; HDEL k v v; HEXISTS k v;
        HLEN k; HINCRBY k v n; HMSET k v v; HVALS k; HKEYS k; HINCRBYFLOAT k v f;
        HINCRBYFLOAT k v f; HSET k v f; HSCAN k 0; HSCAN k 0 MATCH p; HSCAN k 0 COUNT n; HSCAN k x;
        SPOP k; SPOP k i; SPOP k n; SRANDMEMBER k; SRANDMEMBER k i; SRANDMEMBER k 2; SMOVE k k v;
        SMOVE k l v; SMOVE l k v; SADD l v v;
        SADD k v v v; SSCAN k 0; SSCAN k 0 MATCH p COUNT 50; SSCAN k 0 v;
        SMISMEMBER k v v; SINTER k k; SUNION k k; SDIFF k k; HSTRLEN k v; SADD l v v; SINTER k l;
        SINTERSTORE m k l; SUNIONSTORE k l k; SDIFFSTORE k k l; SDIFFSTORE l k l; SUNIONSTORE m k m;
        SINTERCARD 2 k l; SINTERCARD 1 k LIMIT n; SINTERCARD n k l; SINTERCARD 2 k l LIMIT 1 v
    """,
    "fields": """
        HSET k v v v v; HSET k v v v v v v; HSET k v v; HSETNX k v v; HGET k v; HMGET k v v;
        HDEL k v; HGETALL k; HKEYS k; HVALS k; HEXISTS k v; HLEN k; HINCRBY k v n;
        HINCRBYFLOAT k v f; HSCAN k 0; HSCAN k 0 MATCH p; HEXPIRE k 1 FIELDS 1 v;
        HPEXPIRE k t FIELDS 1 v; WATCH k;
        HPEXPIRE k t NX FIELDS 2 v v; HPEXPIRE k t XX FIELDS 1 v; HPEXPIRE k t GT FIELDS 1 v;
        HPEXPIRE k t LT FIELDS 2 v v; HPEXPIREAT k at FIELDS 1 v; HEXPIREAT k second FIELDS 1 v;
        HEXPIRE k n FIELDS 1 v; HEXPIRE k 1 FIELDS n v; HEXPIRE k 1 NX XX FIELDS 1 v; MULTI; EXEC;
        HEXPIRE k 1 v 1 v; HTTL k FIELDS 1 v; HTTL k FIELDS 2 v v; HPTTL k FIELDS 2 v v; EXEC;
        HPTTL k FIELDS n v; HPERSIST k FIELDS 1 v; HPERSIST k FIELDS 2 v v; HPERSIST k FIELDS i v
    """,
    "sorted sets": """
        ZADD k s v; ZADD k s v s v; ZADD k s v s; ZADD k 0 v 0 v 0 v; ZADD k NX s v; ZADD k XX s v;
        ZADD k GT s v; ZADD k LT CH s v s v; ZADD k CH s v s v; ZADD k INCR s v; ZADD k NX INCR s v;
        ZADD k XX GT INCR s v; ZADD k NX XX s v; ZADD k NX GT s v; ZADD k INCR s v s v; ZADD k NX s;
        ZREM k v; ZREM k v v; ZSCORE k v; ZMSCORE k v v; ZCARD k; ZCOUNT k b b; ZINCRBY k s v;
        ZINCRBY k f v; ZRANK k v; ZREVRANK k v; ZPOPMIN k; ZPOPMAX k; ZPOPMIN k n; ZPOPMAX k i;
        ZPOPMIN k 1 1; ZREMRANGEBYSCORE k b b; ZREMRANGEBYRANK k i i; ZREMRANGEBYRANK k n n;
        ZSCAN k 0; ZSCAN k 0 MATCH p; ZRANGE k b b BYSCORE; ZRANGE k b b BYSCORE REV WITHSCORES;
        ZRANGE k b b REV BYSCORE LIMIT i n; ZRANGE k x x BYLEX; ZRANGE k z z BYLEX;
        ZRANGE k z z BYLEX LIMIT i i; ZRANGE k z z REV BYLEX; ZRANGE k - + BYLEX WITHSCORES;
        ZRANGE k i i REV; ZRANGE k i i REV WITHSCORES; ZRANGE k 0 -1 LIMIT i i; ZRANGE k 0 -1 v;
        ZREVRANGE k i i; ZREVRANGE k 0 -1 WITHSCORES; ZREVRANGE k 0 -1 REV;
        ZREVRANGEBYSCORE k b b; ZREVRANGEBYSCORE k +inf -inf WITHSCORES LIMIT i n;
        BZPOPMIN k 1; BZPOPMAX k k 1; ZMPOP 1 k MIN; ZMPOP 2 k k MAX COUNT n; ZMPOP 1 k LEFT;
        ZLEXCOUNT k z z; ZLEXCOUNT k - z; ZRANGEBYLEX k z z; ZREVRANGEBYLEX k z z LIMIT i n;
        ZREVRANGEBYLEX k z -; ZREMRANGEBYLEX k z z; ZREMRANGEBYLEX k - z; ZREMRANGEBYSCORE k -inf b;
        ZRANGE k 0 -1; ZRANGE k i i WITHSCORES; ZRANGE k n n; ZRANGEBYSCORE k -inf s;
        ZRANGEBYSCORE k s s; ZRANGEBYSCORE k b b WITHSCORES; ZRANGEBYSCORE k -inf +inf LIMIT i i;
        ZRANGEBYSCORE k b s LIMIT i n WITHSCORES; ZRANGEBYSCORE k s s LIMIT n
    """,
    "combined": """
        ZADD k s v s v; ZADD k 1 a; ZADD k 0 v 0 v 0 v;
        ZADD l s v s v; ZADD l 1 a; SADD m v v;
        ZUNION 2 k l; ZUNION 2 k l WITHSCORES; ZUNION 3 k l m WEIGHTS 1 i 2 WITHSCORES;
        ZUNION 2 k m AGGREGATE MIN WITHSCORES; ZUNION n k l; ZUNION 1 k AGGREGATE AVG;
        ZUNION 2 k l WEIGHTS 1; ZUNION 2 k l WEIGHTS s f WITHSCORES AGGREGATE MAX;
        ZINTER 2 k l; ZINTER 2 k l WITHSCORES; ZINTER 2 k l WEIGHTS i 2 AGGREGATE MAX WITHSCORES;
        ZINTER 2 k m WITHSCORES; ZDIFF 2 k l; ZDIFF 2 l k WITHSCORES; ZDIFF 2 k m WEIGHTS 1 1;
        ZUNIONSTORE m 2 k l; ZUNIONSTORE k 2 k l WEIGHTS 1 i; ZINTERSTORE l 2 k l AGGREGATE MIN;
        ZINTERSTORE k 2 k l; ZDIFFSTORE m 2 k l; ZDIFFSTORE l n k l; ZUNIONSTORE m 1 k WITHSCORES;
        ZINTERCARD 2 k l; ZINTERCARD 2 k l LIMIT n; ZINTERCARD n k l; ZINTERCARD 1 k WITHSCORES;
        ZRANGESTORE m k i n; ZRANGESTORE l k 0 -1; ZRANGESTORE l k b b BYSCORE LIMIT i n;
        ZRANGESTORE k k 1 -1 REV; ZRANGESTORE m k z z BYLEX; ZRANGESTORE m k 0 -1 WITHSCORES;
        ZRANDMEMBER k; ZRANDMEMBER k i; ZRANDMEMBER k n
    """,
    "streams": """
        XADD k * v v; XADD k 5-1 v v; XADD k 1-0 v v; XADD k 0-0 v v; XADD k * v; XLEN k;
        XRANGE k - +; XREVRANGE k + - COUNT 1; XRANGE k - + COUNT n; XRANGE k 5 6; XDEL k 5-1;
        XADD k x v v; XADD k 07-1 v v; XDEL k 5-1 1-0; XINFO STREAM k; XINFO STREAM k;
        XGROUP CREATE k g 0;
        XGROUP CREATE k g $ MKSTREAM; XGROUP CREATE k h x; XACK k g 5-1; XACK k g x; XSETID k 5-1;
        XSETID k 7-0 ENTRIESADDED n; XSETID k 1900000009999-1 ENTRIESADDED 3; XSETID k x;
        XADD k MAXLEN 2 * v v; XADD k MAXLEN = n * v v; XADD k MAXLEN ~ n * v v; XADD k * v v;
        XADD k MINID 5-0 * v v; XADD k NOMKSTREAM * v v; XADD k MAXLEN 1 NOMKSTREAM * v v;
        XADD k NOMKSTREAM MINID ~ 6 7-0 v v; XADD k MAXLEN 2 LIMIT 1 * v v; XADD k MAXLEN; WATCH k;
        XTRIM k MAXLEN n; XTRIM k MAXLEN 1; XTRIM k MAXLEN ~ n; XTRIM k MAXLEN ~ 0 LIMIT n;
        XTRIM k MINID 6; XTRIM k MINID = 5-1; XTRIM k MINID ~ 1900000009999; XTRIM k MINID x;
        XTRIM k MAXLEN 1 MINID 5; XTRIM k LIMIT 1; XTRIM k MAXLEN ~ 1 v; MULTI; EXEC; EXEC
    """,
    "readers": """
        XADD k * v v; XADD k * v v; XADD k 5-1 v v; XADD k 6-1 v v; XDEL k 5-1; XGROUP CREATE k g 0;
        XGROUP CREATE k g $ MKSTREAM; XGROUP CREATE k h 0 MKSTREAM; XGROUP SETID k g 0;
        XGROUP SETID k g $; XGROUP SETID k h x; XGROUP DESTROY k h;
        XGROUP DELCONSUMER k g a; XGROUP DELCONSUMER k g c; XGROUP DESTROY k; XREAD STREAMS k 0;
        XREAD COUNT n STREAMS k k 0 0; XREAD STREAMS k $;
        XREAD STREAMS k k 0; XREAD BLOCK 10 STREAMS k $; XREAD BLOCK 0 COUNT 1 STREAMS k l $ 0;
        XREAD BLOCK 1 STREAMS k 5-1; XREAD BLOCK n STREAMS k 0; XREAD STREAMS k >;
        XREAD COUNT 1 NOACK STREAMS k 0; XREADGROUP GROUP g a STREAMS k >; XADD k MAXLEN 1 * v v;
        XTRIM k MAXLEN n; XADD k MAXLEN ~ 0 * v v; XTRIM k MINID 6;
        XREADGROUP GROUP g a STREAMS k >; XREADGROUP GROUP g c COUNT 1 STREAMS k >;
        XREADGROUP GROUP g c NOACK STREAMS k >; XREADGROUP GROUP g a STREAMS k 0;
        XREADGROUP GROUP g c COUNT 1 STREAMS k 5-0; XREADGROUP GROUP g a STREAMS k k > 0;
        XREADGROUP GROUP g a STREAMS k $; XREADGROUP GROUP h a BLOCK 10 STREAMS k >;
        XREADGROUP GROUP g a BLOCK 0 STREAMS k >; XREADGROUP GROUP g c BLOCK 1 STREAMS k l > >;
        XREADGROUP COUNT 1 BLOCK 1 STREAMS k >; XACK k g 5-1; XACK k g 5-1 6-1; XACK k h x; XLEN k;
        XPENDING k g; XPENDING k g; XPENDING k h; XPENDING k g - + 10; XPENDING k g 5-1 + n a;
        XRANGE k (5-1 +; XRANGE k - (6; XREVRANGE k (6-1 (5-1; XRANGE k ( +; XREVRANGE k + (0-0;
        XRANGE k - (0-0; XPENDING k g IDLE n - + 5; XPENDING k g IDLE 1 - (6-1 n c;
         XCLAIM k g c 0 5-1; XCLAIM k g a 2 5-1 6-1 JUSTID;
        XCLAIM k g a n 6-1; XCLAIM k g a 0 5-1 v; XAUTOCLAIM k g c 0 0;
        XAUTOCLAIM k g a 1 0 COUNT 1;
        XAUTOCLAIM k g c t 5-1 COUNT n JUSTID; XAUTOCLAIM k g a x 0; XAUTOCLAIM k g c 10 - v;
        XINFO STREAM k; WATCH k; MULTI; EXEC; EXEC
    """,
    # A stream that no other command uses. To be claimed, an entry must be added, read, and not yet
    # acknowledged, in one walk.
    "claims": """
        XADD q 5-1 v v; XADD q 5-1 v v; XADD q 6-1 v v; XADD q * v v; XDEL q 5-1; XDEL q 6-1;
        XGROUP CREATE q g 0 MKSTREAM; XGROUP CREATE q g 0 MKSTREAM; XGROUP SETID q g 0;
        XREADGROUP GROUP g a STREAMS q >; XREADGROUP GROUP g a STREAMS q >;
        XREADGROUP GROUP g c COUNT 1 STREAMS q >; XREADGROUP GROUP g c STREAMS q >;
        XREADGROUP GROUP g a NOACK STREAMS q >; XREADGROUP GROUP g a STREAMS q 0;
        XREADGROUP GROUP g c COUNT 1 STREAMS q 5-1; XREADGROUP GROUP g a BLOCK 10 STREAMS q >;
        XPENDING q g; XPENDING q g - + 10; XPENDING q g IDLE 2 (5-1 + 10; XPENDING q g - + 1 a;
        XPENDING q g - +; XPENDING q g IDLE 1; XPENDING q g x + 1; XPENDING q g - + x;
         XACK q g 5-1; XACK q g 6-1 5-1; XINFO STREAM q;
        XCLAIM q g c 0 5-1; XCLAIM q g a 2 5-1 6-1 JUSTID; XCLAIM q g c 0 6-1 5-1;
        XCLAIM q g a t 6-1; XAUTOCLAIM q g c 0 0; XAUTOCLAIM q g a 1 0 COUNT 1;
        XAUTOCLAIM q g c t 5-1 COUNT n JUSTID; XAUTOCLAIM q g a 10 - COUNT 1;
        XGROUP DELCONSUMER q g a; WATCH q; MULTI; EXEC; EXEC
    """,
    "watching": """
        WATCH k; WATCH k k; MULTI; MULTI; EXEC; EXEC; EXEC; DISCARD; UNWATCH; SET k v PX t; INCR k;
        RPUSH k v; SADD k v; XADD k * v v; FLUSHALL; FLUSHDB; FLUSHDB ASYNC; FLUSHALL v;
        SUNIONSTORE k l m; ZUNIONSTORE k 1 l; COPY l k
    """,
    "waiting": """
        BLPOP k 0; BRPOP k 1; BLPOP k 0.01; BLPOP k x; BLPOP k -1; BLPOP k k 0; BRPOP k k 0.001;
        RPUSH k v; LPUSH k v v; RPUSH k v; RPUSH k v v; MULTI; EXEC; EXEC; LPOP k; DEL k;
        RENAME k k;
        BLMOVE k k LEFT RIGHT 0; BLMOVE k k RIGHT LEFT 0.01; BLMOVE k k UP LEFT 1;
        BLMOVE k k LEFT LEFT x; BRPOPLPUSH k k 0; BRPOPLPUSH k k 1; BZPOPMIN k 0; BZPOPMAX k k 0.01;
        BZPOPMIN k k 0; BZPOPMAX k x; ZADD k s v; ZADD k s v s v; ZADD k 1 v; WAIT 0 10; WAIT 1 10;
        BLMPOP 0 1 k LEFT; BLMPOP 0.01 2 k k RIGHT COUNT 2; BLMPOP x 1 k LEFT; BZMPOP 0 1 k MIN;
        BZMPOP 1 2 k k MAX COUNT i; BZMPOP 1 n k MIN;
        WAIT 2 n; WAIT x 1; ZUNIONSTORE k 1 l; ZADD l s v; ZRANGESTORE k l 0 -1; COPY l k REPLACE;
        LINSERT k BEFORE v v; COPY l k; FLUSHDB
    """,
    "channels": """
        SSUBSCRIBE ch; SSUBSCRIBE ch dh; SUNSUBSCRIBE ch; SUNSUBSCRIBE dh ch; SUBSCRIBE ch;
        UNSUBSCRIBE; SPUBLISH ch v; SPUBLISH ch v; PUBLISH ch v; PUBLISH ch v;
        PSUBSCRIBE c*; PSUBSCRIBE d? ch; PUNSUBSCRIBE ch c* d?; PUNSUBSCRIBE c*;
        UNSUBSCRIBE ch; PUBLISH dh v; PUBSUB NUMSUB ch dh; PUBSUB numsub; PUBSUB SHARDNUMSUB dh ch;
        PUBSUB NUMPAT; PUBSUB NUMPAT ch
    """,
    "scripts": """
        GET k; SET k 1; SET k a PX 1000; RPUSH k v; SADD k v; SSUBSCRIBE ch; SSUBSCRIBE dh;
        LRANGE k 0 -1; SMEMBERS k; XRANGE k - +; PTTL k; WATCH k; MULTI; EXEC; DEL k;
        XADD o * sale {"id":"a"}; XADD o * sale {"id":"b","n":[1,2.5]}; XADD o * sale no; DEL k k k;
        ZADD k 5 a; HSET k a b
    """,
}
DATA = (
    "strings",
    "lists",
    "collections",
    "fields",
    "sorted sets",
    "combined",
    "streams",
    "readers",
)
