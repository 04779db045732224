-- Write the stock with the units of a hold that is over, unless a newer fencing token was shown.
--
-- KEYS    1 the highest token shown   2 stock   3 held (hash)
--         4 units that the buyer has in the round, where that is counted
-- ARGV    1 my fencing token   2 units left   3 the order's id   4 units
-- returns 1, also when they are back already; 0: refused, or the round has ended

if redis.call('HEXISTS', KEYS[3], ARGV[3]) == 0 then
  return 1
end
if tonumber(ARGV[1]) < tonumber(redis.call('GET', KEYS[1]) or '0') then
  return 0
end
-- XX: a round that has ended has no stock, and gets none.
if not redis.call('SET', KEYS[2], ARGV[2], 'XX') then
  return 0
end
if redis.call('EXISTS', KEYS[4]) == 1 then
  redis.call('DECRBY', KEYS[4], ARGV[4])
end
return redis.call('HDEL', KEYS[3], ARGV[3])
