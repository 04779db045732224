-- Sell to several, one after another, in one step: each all or nothing, as sell.lua does.
--
-- KEYS    1 stock   2 sales (stream)
--         then of each order: the sale under its order's id, ... under its key,
--         the buyer's units in this round, where it limits them
-- ARGV    1 the most units of one buyer, 0 without a limit
--         then of each order: quantity, the sale, as JSON
-- returns of each order what sell.lua returns

local most = tonumber(ARGV[1])
local names = most > 0 and 3 or 2

local function sell(id, key, counter, quantity, sale)
  local seen = redis.call('GET', key)
  if seen then
    return {'SOLD', false, seen}
  end
  local stock = redis.call('GET', KEYS[1])
  if not stock then
    return {'ROUND_OVER', false, false}
  end
  local left = tonumber(stock) - quantity
  if left < 0 then
    return {'SOLD_OUT', tonumber(stock), false}
  end
  if counter then
    local bought = tonumber(redis.call('GET', counter) or '0')
    if bought + quantity > most then
      return {'LIMIT', tonumber(stock), false, bought}
    end
    redis.call('INCRBY', counter, quantity)
  end
  redis.call('SET', KEYS[1], left)
  redis.call('XADD', KEYS[2], '*', 'sale', sale)
  redis.call('MSET', id, sale, key, sale)
  return {'SOLD', left, false}
end

local said = {}
for nth = 0, (#ARGV - 1) / 2 - 1 do
  local key, arg = 3 + nth * names, 2 + nth * 2
  local counter = names == 3 and KEYS[key + 2]
  said[nth + 1] = sell(KEYS[key], KEYS[key + 1], counter, tonumber(ARGV[arg]), ARGV[arg + 1])
end
return said
