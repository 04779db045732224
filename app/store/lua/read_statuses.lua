-- Read every worker's last status, and the time now by the clock that stamped them.
--
-- KEYS    1 the round's workers (see say_status)
-- returns {ms since 1970, one entry for each worker: "ms since 1970", a space, its status}

local now = redis.call('TIME')
local ms = string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000))
return {ms, unpack(redis.call('HVALS', KEYS[1]))}
