-- Settle a hold: once, however many try, and as EXPIRED after its deadline whatever is asked for.
--
-- KEYS    1 holds (stream)   2 held (hash)   3 due (sorted set)   4 how this hold has ended
--         5 sales (stream)   6 the sale under its order's id   7 ... under its key
--         8 what the store has lost of the item
-- ARGV    1 the order's id   2 how long holds last, ms   3 PAID, DECLINED or CANCELLED; LOOK only looks
--         4 s for which its end is remembered   5 ms in which its units should be back
-- returns {its state, its deadline in ms since 1970, now, 1 when its units are to be put back};
--         false: there is no such hold, or it was paid for long ago;
--         {'LACKS', 0, now, 0}: the store has lost data, and has no record that the hold has ended

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Enter the holds that modes wrote since the last look. An entry's id is the time of its writing.
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+')) do
  local known, order = pcall(cjson.decode, entry[2][2])
  if known and type(order) == 'table' and type(order.id) == 'string' then
    redis.call('HSET', KEYS[2], order.id, entry[2][2])
    redis.call('ZADD', KEYS[3], string.match(entry[1], '%d+') + ARGV[2], order.id)
    redis.call('XDEL', KEYS[1], entry[1])
  end
end

local sale = redis.call('HGET', KEYS[2], ARGV[1])
local ended = redis.call('GET', KEYS[4])
if ended then
  local stands, deadline = string.match(ended, '(%u+) (%d+)')
  return {stands, deadline, now, sale and 1 or 0}
end
-- It may be an order in the books: nothing ends before the books were asked.
if redis.call('EXISTS', KEYS[8]) == 1 then
  return {'LACKS', '0', now, 0}
end
if not sale then
  return false
end

local deadline = redis.call('ZSCORE', KEYS[3], ARGV[1]) or '0'
local stands = now >= tonumber(deadline) and 'EXPIRED' or ARGV[3]
if stands == 'LOOK' then
  return {'HELD', deadline, now, 0}
end
if stands == 'PAID' then
  redis.call('XADD', KEYS[5], '*', 'sale', sale)
  redis.call('HDEL', KEYS[2], ARGV[1])
  redis.call('ZREM', KEYS[3], ARGV[1])
else
  -- It stays in `held` until its mode has put the units back: the caller may die before that.
  redis.call('ZADD', KEYS[3], now + ARGV[5], ARGV[1])
  redis.call('EXPIRE', KEYS[6], ARGV[4])
  redis.call('EXPIRE', KEYS[7], ARGV[4])
end
redis.call('SET', KEYS[4], stands .. ' ' .. deadline, 'EX', ARGV[4])
return {stands, deadline, now, stands == 'PAID' and 0 or 1}
