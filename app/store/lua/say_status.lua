-- Store a worker's status, with the time of this server's clock: workers' clocks may differ.
--
-- KEYS    1 the round's workers (hash: worker -> "ms since 1970", a space, its status)
-- ARGV    1 worker, 2 its status
-- returns 1 for the worker's first status, else 0

local now = redis.call('TIME')
local ms = string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000))
return redis.call('HSET', KEYS[1], ARGV[1], ms .. ' ' .. ARGV[2])
