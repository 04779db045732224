-- Write the stock and the sale, unless the key has bought meanwhile or the round has ended.
--
-- KEYS    1 stock   2 sales (stream)   3 the sale under its order's id   4 ... under its key
--         5 the buyer's units in this round, if the round limits them
-- ARGV    1 units left   2 the sale, as JSON   3 the buyer's units with it, where there is a limit
-- returns {SOLD or ROUND_OVER, the sale made earlier under this key or false}

local seen = redis.call('GET', KEYS[4])
if seen then
  return {'SOLD', seen}
end

-- XX: a round that has ended has no stock, and gets none.
if not redis.call('SET', KEYS[1], ARGV[1], 'XX') then
  return {'ROUND_OVER', false}
end
redis.call('XADD', KEYS[2], '*', 'sale', ARGV[2])
redis.call('MSET', KEYS[3], ARGV[2], KEYS[4], ARGV[2])
if KEYS[5] then
  redis.call('SET', KEYS[5], ARGV[3])
end
return {'SOLD', false}
