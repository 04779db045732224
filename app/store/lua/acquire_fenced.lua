-- Take a free lock and raise its fencing token, in one step.
--
-- KEYS    1 lock   2 the newest fencing token given out
-- ARGV    1 owner token   2 lifetime, ms
-- returns the new fencing token, or false when another client holds the lock

if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return false
end

-- At least the clock's time, so it rises even if the key below was lost or has expired.
-- Lua's numbers are exact up to 2^53; in microseconds since 1970 that is the year 2255.
local time = redis.call('TIME')
local clock = tonumber(time[1]) * 1000000 + tonumber(time[2])
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
local fence = math.max(last + 1, clock)

-- Kept for a day: a clock set back by less does not lower the token, and unused keys expire.
redis.call('SET', KEYS[2], string.format('%.0f', fence), 'EX', 86400)
return fence
