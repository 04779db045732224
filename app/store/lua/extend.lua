-- Extend a lock that the caller still holds.
--
-- KEYS    1 lock
-- ARGV    1 the caller's owner token   2 its lifetime from now, ms
-- returns 1; 0 when the caller does not hold the lock (nothing is changed then)

if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
