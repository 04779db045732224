-- Take the lock if it is free, else join the line. With "again": take it if it is free or was handed
-- to this waiter meanwhile, else return the waiter's position.
--
-- KEYS    see hand_over.lua
-- ARGV    1 token   2 lease in ms, 0 for none   3 the waiter's place, "" to stay out of the line
--         4 "again" if it should be in line already   5 fencing tokens wanted   6... keys to read
-- returns {1, fence, values...}: taken. {0, waiters ahead, ms until the holder's lease ends or a
--         negative number}: not taken. Waiters ahead are -1 if the place is gone: the waiter was
--         called, or the line is lost. It must take a new place

local token, lease, place, again = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4] == 'again'

local function mine()
  hold(token, lease)
  return {1, raise_fence(tonumber(ARGV[5])), unpack(read({unpack(ARGV, 6)}))}
end

local function stand_in_line()
  if again then
    return redis.call('LPOS', KEYS[2], place) or -1
  end
  local before = redis.call('RPUSH', KEYS[2], place) - 1
  if before == 0 then
    redis.call('PEXPIRE', KEYS[2], DAY)
  end
  return before
end

local holder = redis.call('GET', KEYS[1])
if not holder and redis.call('EXISTS', KEYS[2]) == 1 then
  -- A lease has ended, or the called waiter did not take the lock: the first in line is next.
  if place ~= '' then
    stand_in_line()
  end
  hand_over('')
  holder = redis.call('GET', KEYS[1])
  again = true
  if holder == token then
    return mine()
  end
end
if not holder or (again and holder == token) then
  return mine()
end
if place == '' then
  return {0, 0, redis.call('PTTL', KEYS[1])}
end
local before = stand_in_line()
if again and before >= 0 then
  redis.call('SADD', KEYS[4], token)
  redis.call('PEXPIRE', KEYS[4], DAY)
  redis.call('PEXPIRE', KEYS[2], DAY)
end
return {0, before, redis.call('PTTL', KEYS[1])}
