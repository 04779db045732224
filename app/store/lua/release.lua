-- Release a lock that is still mine: compare and delete in one step.
--
-- KEYS    1 lock
-- ARGV    1 my owner token
-- returns 1 when it was mine and is free now, 0 when it was not mine any more

if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
