-- If the lock is still mine: do what I came for, then hand the lock to the next in line.
--
-- KEYS    see hand_over.lua; then the keys of the commands
-- ARGV    1 my token   2 my process, if its threads may have the lock without taking it; else ""
--         then each command: how many words, its words
-- returns 1 it was mine, and all is done; 0 it was not any more, and nothing is

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
local at = 3
while at <= #ARGV do
  local words = tonumber(ARGV[at])
  redis.call(unpack(ARGV, at + 1, at + words))
  at = at + words + 1
end
hand_over(ARGV[2])
return 1
