-- Write the stock and the sale, unless a newer fencing token than the caller's was shown.
--
-- KEYS    1 the highest token shown   2 stock
--         3 sales (stream)   4 the sale under its order's id   5 ... under its key
--         6 the buyer's units in this round, if the round limits them
-- ARGV    1 the caller's fencing token   2 units left   3 the sale, as JSON
--         4 the buyer's units with it, where there is a limit
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
if KEYS[6] then
  redis.call('SET', KEYS[6], ARGV[4])
end
return 'SOLD'
