-- Note what a worker says of itself, with the moment by this server's clock: workers' own may differ.
--
-- KEYS    1 the round's workers (hash: worker -> "ms since 1970", a space, what it said)
-- ARGV    1 worker, 2 what it says
-- returns 1 when it was heard for the first time, else 0

local now = redis.call('TIME')
local ms = string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000))
return redis.call('HSET', KEYS[1], ARGV[1], ms .. ' ' .. ARGV[2])
