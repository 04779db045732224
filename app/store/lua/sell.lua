-- Sell all or nothing, in one step.
--
-- KEYS    1 stock   2 sales (stream)   3 the sale under its order's id   4 ... under its key
-- ARGV    1 quantity   2 the sale, as JSON
-- returns {outcome, left, the sale made earlier under this key or false}

local seen = redis.call('GET', KEYS[4])
if seen then
  return {'SOLD', false, seen}
end

local stock = redis.call('GET', KEYS[1])
if not stock then
  return {'ROUND_OVER', false, false}
end

local left = tonumber(stock) - tonumber(ARGV[1])
if left < 0 then
  return {'SOLD_OUT', tonumber(stock), false}
end

redis.call('SET', KEYS[1], left)
redis.call('XADD', KEYS[2], '*', 'sale', ARGV[2])
redis.call('MSET', KEYS[3], ARGV[2], KEYS[4], ARGV[2])
return {'SOLD', left, false}
