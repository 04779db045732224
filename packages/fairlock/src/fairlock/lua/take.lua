-- Take the lock that was handed over, for the whole lease. Also renews and extends a lease.
--
-- KEYS    1 lock
-- ARGV    1 token   2 lease in ms, 0 for none   3 "more" to add it to the time that is left
-- returns the new lease in ms, -1 for none; 0 too late: not the owner

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
local lease = tonumber(ARGV[2])
if lease == 0 then
  redis.call('PERSIST', KEYS[1])
  return -1
end
if ARGV[3] == 'more' then
  lease = lease + math.max(0, redis.call('PTTL', KEYS[1]))
end
redis.call('PEXPIRE', KEYS[1], lease)
return lease
