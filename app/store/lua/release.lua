-- Release a lock that the caller still holds: compare and delete in one step.
--
-- KEYS    1 lock
-- ARGV    1 the caller's owner token
-- returns 1 when the lock is free now; 0 when the caller did not hold it any more

if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
