-- Note a sale whose units are taken already, unless its key has bought meanwhile.
--
-- KEYS    1 sales (stream)   2 the sale under its order's id   3 ... under its key
-- ARGV    1 the sale, as JSON
-- returns the sale made earlier under this key, or false

local seen = redis.call('GET', KEYS[3])
if seen then
  return seen
end
redis.call('XADD', KEYS[1], '*', 'sale', ARGV[1])
redis.call('MSET', KEYS[2], ARGV[1], KEYS[3], ARGV[1])
return false
