-- If the token owns the lock: run the commands, then hand the lock on.
--
-- KEYS    see hand_over.lua; then the keys of the commands
-- ARGV    1 token   2 the holder's process, if its waiters need not take the lock themselves; else ""
--         then each command: number of its words, its words
-- returns 1 all was done; 0 the token does not own the lock and nothing was done, or a command
--         answered nil (SET with NX or XX) and those after it were not run

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
