-- Expire the holds that are past their deadline. Return all holds whose units must be put back now.
--
-- KEYS    1 holds (stream)   2 held (hash)   3 due (sorted set)
--         4 what the store has lost of the item
--         5, 6, 7 the beginnings of three names of a hold: how it ended, its sale by id and by key
-- ARGV    1 how long holds last, ms   2 the most to return   3 s for which an end is remembered
--         4, 5 the shortest and the longest time, ms, until a hold that is not put back is due again
-- returns their sales; none if the store has lost data of the item: the holds may be paid for

if redis.call('EXISTS', KEYS[4]) == 1 then
  return {}
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Enter the holds that modes wrote since the last look and that are due. An entry's id is the time
-- of its writing. An unreadable entry stays, and is skipped.
local last, entered = string.format('%.0f', now - ARGV[1]), 0
local from, entries = '-', nil
repeat
  entries = redis.call('XRANGE', KEYS[1], from, last, 'COUNT', ARGV[2])
  for _, entry in ipairs(entries) do
    from = '(' .. entry[1]
    local known, order = pcall(cjson.decode, entry[2][2])
    if known and type(order) == 'table' and type(order.id) == 'string' then
      redis.call('HSET', KEYS[2], order.id, entry[2][2])
      redis.call('ZADD', KEYS[3], string.match(entry[1], '%d+') + ARGV[1], order.id)
      redis.call('XDEL', KEYS[1], entry[1])
      entered = entered + 1
    end
  end
until #entries == 0 or entered >= tonumber(ARGV[2])

local sales = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, ARGV[2])) do
  local sale = redis.call('HGET', KEYS[2], id)
  if sale then
    local ended = redis.pcall('GET', KEYS[5] .. id)
    local deadline = type(ended) == 'string' and string.match(ended, '%d+')
    if not deadline then
      deadline = redis.call('ZSCORE', KEYS[3], id)
      redis.call('SET', KEYS[5] .. id, 'EXPIRED ' .. deadline, 'EX', ARGV[3])
      redis.call('EXPIRE', KEYS[6] .. id, ARGV[3])
      local known, order = pcall(cjson.decode, sale)
      if known and type(order) == 'table' and type(order.key) == 'string' then
        redis.call('EXPIRE', KEYS[7] .. order.key, ARGV[3])
      end
    end
    -- The caller may die or fail: then the hold is due again when it is late by twice as much.
    local pause = math.max(tonumber(ARGV[4]), math.min(now - deadline, tonumber(ARGV[5])))
    redis.call('ZADD', KEYS[3], now + pause, id)
    table.insert(sales, sale)
  else
    redis.call('ZREM', KEYS[3], id)
  end
end
return sales
