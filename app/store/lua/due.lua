-- Holds to look at now: past their deadline, or over and their units not put back in time.
--
-- KEYS    1 holds (stream)   2 held (hash)   3 due (sorted set)
--         4 what the store has lost of the item
-- ARGV    1 how long holds last, ms   2 the most to tell of
-- returns their sales; none of an item of which something is lost: they may be paid for

if redis.call('EXISTS', KEYS[4]) == 1 then
  return {}
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- What modes wrote since somebody last looked. An entry's id is the moment at which it was written.
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+')) do
  local known, order = pcall(cjson.decode, entry[2][2])
  if known and type(order) == 'table' and order.id then
    redis.call('HSET', KEYS[2], order.id, entry[2][2])
    redis.call('ZADD', KEYS[3], string.match(entry[1], '%d+') + ARGV[1], order.id)
    redis.call('XDEL', KEYS[1], entry[1])
  end
end

local sales = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, ARGV[2])) do
  local sale = redis.call('HGET', KEYS[2], id)
  if sale then
    table.insert(sales, sale)
  else
    redis.call('ZREM', KEYS[3], id)
  end
end
return sales
