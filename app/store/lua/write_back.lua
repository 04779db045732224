-- Write the stock with the units of a hold that is over, unless they are back already.
--
-- KEYS    1 stock   2 held (hash)   3 units that the buyer has in the round, where that is counted
-- ARGV    1 units left   2 the order's id   3 units
-- returns 1, also when they are back already; 0: the round has ended

if redis.call('HEXISTS', KEYS[2], ARGV[2]) == 0 then
  return 1
end
-- XX: a round that has ended has no stock, and gets none.
if not redis.call('SET', KEYS[1], ARGV[1], 'XX') then
  return 0
end
if redis.call('EXISTS', KEYS[3]) == 1 then
  redis.call('DECRBY', KEYS[3], ARGV[3])
end
return redis.call('HDEL', KEYS[2], ARGV[2])
