-- Sell all or nothing, in one step.
--
-- KEYS    1 stock   2 sales (stream)   3 the sale under its order's id   4 ... under its key
--         5 the buyer's units in this round, if the round limits them
-- ARGV    1 quantity   2 the sale, as JSON   3 the most units of one buyer, where there is a limit
-- returns {outcome, left, the sale made earlier under this key or false, for LIMIT also the units
--         that the buyer has}

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

if KEYS[5] then
  local bought = tonumber(redis.call('GET', KEYS[5]) or '0')
  if bought + tonumber(ARGV[1]) > tonumber(ARGV[3]) then
    return {'LIMIT', tonumber(stock), false, bought}
  end
  redis.call('INCRBY', KEYS[5], ARGV[1])
end

redis.call('SET', KEYS[1], left)
redis.call('XADD', KEYS[2], '*', 'sale', ARGV[2])
redis.call('MSET', KEYS[3], ARGV[2], KEYS[4], ARGV[2])
return {'SOLD', left, false}
