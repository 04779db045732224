-- Let a lock that is still mine live longer.
--
-- KEYS    1 lock
-- ARGV    1 my owner token   2 its lifetime from now, ms
-- returns 1 when it was mine, 0 when it was not (and is left alone)

if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
