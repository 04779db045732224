-- Let go of sales that are in the database: at once in the stream and by id, in a while by key.
--
-- KEYS    1 sales (stream)   2 … each sale under its order's id   … each under its key
-- ARGV    1 the consumer group   2 s for which a key is still known   3 … the entries' ids
-- returns nothing

local MOST = 1000  -- arguments of one call: Lua's stack has room for some 8,000
local sold = #ARGV - 2

for first = 1, sold, MOST do
  local last = math.min(first + MOST - 1, sold)
  redis.call('XACK', KEYS[1], ARGV[1], unpack(ARGV, first + 2, last + 2))
  redis.call('XDEL', KEYS[1], unpack(ARGV, first + 2, last + 2))
  redis.call('UNLINK', unpack(KEYS, first + 1, last + 1))
end
for n = sold + 2, #KEYS do
  redis.call('EXPIRE', KEYS[n], ARGV[2])
end
