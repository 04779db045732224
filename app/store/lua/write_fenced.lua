-- Write the stock and the sale, unless a newer fencing token than mine was shown.
--
-- KEYS    1 the highest token shown   2 stock
--         3 sales (stream)   4 the sale under its order's id   5 ... under its key
-- ARGV    1 my fencing token   2 units left   3 the sale, as JSON
-- returns SOLD, BUSY (refused) or ROUND_OVER

if tonumber(ARGV[1]) < tonumber(redis.call('GET', KEYS[1]) or '0') then
  return 'BUSY'
end

-- XX: a round that has ended has no stock, and gets none.
if not redis.call('SET', KEYS[2], ARGV[2], 'XX') then
  return 'ROUND_OVER'
end
redis.call('XADD', KEYS[3], '*', 'sale', ARGV[3])
redis.call('MSET', KEYS[4], ARGV[3], KEYS[5], ARGV[3])
return 'SOLD'
