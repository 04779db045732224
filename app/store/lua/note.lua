-- Note a sale whose units are taken already, unless its key has bought or the round has ended.
--
-- KEYS    1 sales (stream)   2 the sale under its order's id   3 ... under its key
--         4 the stock of a round that has ended
-- ARGV    1 the sale, as JSON
-- returns {SOLD or ROUND_OVER, the sale made earlier under this key or false}

local seen = redis.call('GET', KEYS[3])
if seen then
  return {'SOLD', seen}
end
if redis.call('EXISTS', KEYS[4]) == 1 then
  return {'ROUND_OVER', false}
end
redis.call('XADD', KEYS[1], '*', 'sale', ARGV[1])
redis.call('MSET', KEYS[2], ARGV[1], KEYS[3], ARGV[1])
return {'SOLD', false}
