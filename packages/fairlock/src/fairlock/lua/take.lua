-- Accept the lock that was handed to me, for the whole lease. Also renews and extends.
--
-- KEYS    1 lock
-- ARGV    1 my token   2 lease, ms, 0 for none   3 "more" to add it to what is left
-- returns the lease that it has now, ms, -1 for none; 0 it is not mine any more: I came too late

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
