-- Leave the line.
--
-- KEYS    see hand_over.lua
-- ARGV    1 token   2 place
-- returns 1 the token owned the lock already, which now goes to the next in line; 0 it did not

redis.call('LREM', KEYS[2], 1, ARGV[2])
redis.call('SREM', KEYS[4], ARGV[1])
if redis.call('GET', KEYS[1]) == ARGV[1] then
  hand_over('')
  return 1
end
return 0
