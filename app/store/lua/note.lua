-- Note a sale whose units are taken already, unless its key has bought, the round has ended, or its
-- buyer would be above the limit.
--
-- KEYS    1 sales (stream)   2 the sale under its order's id   3 ... under its key
--         4 the stock of a round that has ended   5 the buyer's units, if the round limits them
-- ARGV    1 the sale, as JSON   2 its units   3 the most units of one buyer, where there is a limit
-- returns {SOLD, ROUND_OVER or LIMIT, the sale made earlier under this key or false, for LIMIT also
--         the units that the buyer has}

local seen = redis.call('GET', KEYS[3])
if seen then
  return {'SOLD', seen}
end
if redis.call('EXISTS', KEYS[4]) == 1 then
  return {'ROUND_OVER', false}
end
if KEYS[5] then
  local bought = tonumber(redis.call('GET', KEYS[5]) or '0')
  if bought + tonumber(ARGV[2]) > tonumber(ARGV[3]) then
    return {'LIMIT', false, bought}
  end
  redis.call('INCRBY', KEYS[5], ARGV[2])
end
redis.call('XADD', KEYS[1], '*', 'sale', ARGV[1])
redis.call('MSET', KEYS[2], ARGV[1], KEYS[3], ARGV[1])
return {'SOLD', false}
