-- Put the units of holds that are over back into stock: each hold's once, however many try.
--
-- KEYS    1 held (hash)   2 due (sorted set)   3 the stock of a round that has ended   4 stock
--         5 the lock that keeps others from writing the stock   6 the highest fencing token shown
--         7 … for each hold: its buyer's units, in a round that limits them
-- ARGV    1, 2 the caller's owner token and fencing token, '' where there is none
--         3 … for each hold: the order's id and its units
-- returns 1, also when they are back already; 0: the caller has lost the lock, or there is no stock

local stock = redis.call('EXISTS', KEYS[3]) == 1 and KEYS[3] or KEYS[4]
if redis.call('EXISTS', stock) == 0 then
  return 0
end
if stock == KEYS[4] then
  if ARGV[1] ~= '' and redis.call('GET', KEYS[5]) ~= ARGV[1] then
    return 0
  end
  local shown = ARGV[2] ~= '' and redis.call('GET', KEYS[6])
  if shown then
    if tonumber(ARGV[2]) < tonumber(shown) then
      return 0
    end
    redis.call('SET', KEYS[6], ARGV[2])
  end
end

local units, mine = 0, {}
for at = 3, #ARGV, 2 do
  if redis.call('HEXISTS', KEYS[1], ARGV[at]) == 1 then
    units = units + ARGV[at + 1]
    mine[#mine + 1] = at
  end
end
if #mine == 0 then
  return 1
end
redis.call('INCRBY', stock, string.format('%.0f', units))
for _, at in ipairs(mine) do
  redis.call('HDEL', KEYS[1], ARGV[at])
  redis.call('ZREM', KEYS[2], ARGV[at])
  local counter = KEYS[7 + (at - 3) / 2]
  if counter then
    local bought = redis.pcall('DECRBY', counter, ARGV[at + 1])
    if type(bought) == 'number' and bought <= 0 then
      redis.call('DEL', counter)
    end
  end
end
return 1
