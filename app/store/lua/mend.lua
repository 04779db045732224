-- Write a round's data from the books into a store that has lost some of it: all of it, or nothing.
--
-- KEYS    1 what the item lacks   2 the round's record   3 stock   4 ... of a round that has ended
--         5 sales (stream)   6 dead letters (stream)   7 open streams (set)   8 number of the newest round
--         9 what the round lacks   10 what was mended of it
--         11 holds (stream)   12 held (hash)   13 due (sorted set)
--         14 … of each sale to bring back: under its order's id, under its key;
--         then of each hold that has ended: how, its sale under its order's id, under its key
-- ARGV    1 what the item lacked when the figures were made   2 the round's state then
--         3 the round's record   4 its number   5 units left, or ''   6 sales ever   7 the consumer group
--         8 what is mended, as JSON   9 s for which the end of a hold is remembered
--         10 how many sales to bring back   11 … these sales;
--         then of each of those holds: the order's id, its entry's id or '', how it has ended, its sale
-- returns 1; 0 when the state has changed since, and nothing was written

local function remains()
  local last, added = '', ''
  if redis.call('EXISTS', KEYS[5]) == 1 then
    local said = redis.call('XINFO', 'STREAM', KEYS[5])
    for at = 1, #said, 2 do
      if said[at] == 'last-generated-id' then last = said[at + 1] end
      if said[at] == 'entries-added' then added = said[at + 1] end
    end
  end
  local left, dead = redis.call('GET', KEYS[4]) or '', redis.call('XLEN', KEYS[6])
  local taken = redis.call('XLEN', KEYS[11]) + redis.call('HLEN', KEYS[12])
  return last, table.concat({left, last, added, dead, taken}, ' ')
end

local _, now = remains()
if redis.call('GET', KEYS[1]) ~= ARGV[1] or now ~= ARGV[2] then
  return 0
end

redis.call('SET', KEYS[2], ARGV[3])
redis.call('DEL', KEYS[3])
if ARGV[5] ~= '' then
  redis.call('SET', KEYS[4], ARGV[5])
  redis.pcall('XGROUP', 'CREATE', KEYS[5], ARGV[7], '0', 'MKSTREAM')
  local key, at = 14, 11
  while at < 11 + ARGV[10] do
    redis.call('XADD', KEYS[5], '*', 'sale', ARGV[at])
    redis.call('SET', KEYS[key], ARGV[at])
    redis.call('SET', KEYS[key + 1], ARGV[at], 'NX')
    key, at = key + 2, at + 1
  end
  while at < #ARGV do
    redis.call('HDEL', KEYS[12], ARGV[at])
    redis.call('ZREM', KEYS[13], ARGV[at])
    if ARGV[at + 1] ~= '' then
      redis.call('XDEL', KEYS[11], ARGV[at + 1])
    end
    redis.call('SET', KEYS[key], ARGV[at + 2] .. ' 0', 'EX', ARGV[9])
    if ARGV[at + 2] ~= 'PAID' then
      redis.call('SET', KEYS[key + 1], ARGV[at + 3], 'EX', ARGV[9])
      local bought = redis.call('GET', KEYS[key + 2])
      if not bought or bought == ARGV[at + 3] then
        redis.call('SET', KEYS[key + 2], ARGV[at + 3], 'EX', ARGV[9])
      end
    end
    key, at = key + 3, at + 4
  end
  local last = remains()
  redis.call('XSETID', KEYS[5], last == '0-0' and '0-1' or last, 'ENTRIESADDED', ARGV[6])
  redis.call('SADD', KEYS[7], ARGV[4])
end
if tonumber(redis.call('GET', KEYS[8]) or '0') < tonumber(ARGV[4]) then
  redis.call('SET', KEYS[8], ARGV[4])
end
redis.call('SET', KEYS[9], ARGV[1], 'NX')
redis.call('SET', KEYS[10], ARGV[8])
return 1
