-- Remove sales that are in the database: at once from the stream and by id, later by key.
--
-- Counts each order once: only the first call finds the sale under its order's id.
--
-- KEYS    1 sales (stream)   2 orders of each round (hash)
--         3 … each sale under its order's id   … each under its key
-- ARGV    1 the consumer group   2 s until the key is forgotten   3 the round's number
--         4 … the entries' ids
-- returns nothing

local MOST = 1000  -- arguments of one call: Lua's stack has room for some 8,000
local sold = #ARGV - 3
local counted = 0

for first = 1, sold, MOST do
  local last = math.min(first + MOST - 1, sold)
  redis.call('XACK', KEYS[1], ARGV[1], unpack(ARGV, first + 3, last + 3))
  redis.call('XDEL', KEYS[1], unpack(ARGV, first + 3, last + 3))
  counted = counted + redis.call('UNLINK', unpack(KEYS, first + 2, last + 2))
end
if counted > 0 then
  redis.call('HINCRBY', KEYS[2], ARGV[3], counted)
end
for n = sold + 3, #KEYS do
  redis.call('EXPIRE', KEYS[n], ARGV[2])
end
