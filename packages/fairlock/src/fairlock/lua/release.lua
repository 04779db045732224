-- If the lock is still mine: do what I came for, then hand the lock to the next in line.
--
-- KEYS    see hand_over.lua; then the keys of the commands
-- ARGV    1 my token   2 my process, if its threads may have the lock without taking it; else ""
--         then each command: how many words, its words
-- returns 1 it was mine, and all is done; 0 it was not any more, and nothing is, or a command has
--         answered nil (SET with NX or XX): those behind it are not done

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
local at, done = 3, 1
while at <= #ARGV and done == 1 do
  local words = tonumber(ARGV[at])
  if not redis.call(unpack(ARGV, at + 1, at + words)) then
    done = 0
  end
  at = at + words + 1
end
hand_over(ARGV[2])
return done
