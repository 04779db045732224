-- Shared by the scripts of a lock; scripts.py puts it in front of three of them.
--
-- KEYS    1 lock (owner token)   2 the line (list)   3 fence (highest fencing token)
--         4 asked (set: tokens of those who have waited long and asked where they stand)
-- A place in the line is JSON: {token, process, channel, ms to take the lock, lease in ms, fencing
-- tokens wanted, its number, keys to read...}. What its owner hears is JSON, too: {number, "yours",
-- fence, values...}, {number, "taken", fence, values...} or {number, "watch", ms}. The number is new
-- each time that somebody takes a place: a word that was not heard in time is not for the next one.

local DAY = '86400000' -- ms: nothing of an abandoned lock stays for longer

-- A number above all earlier ones, also when the key has expired or the server has lost its
-- newest writes: the clock has gone on meanwhile. Takes `count` numbers, answers the first.
local function raise_fence(count)
  if count == 0 then
    return '0'
  end
  local time = redis.call('TIME')
  local now = time[1] * 1000000 + time[2]
  local last = tonumber(redis.call('GET', KEYS[3]) or 0)
  local first = math.max(last + 1, now)
  local fence = string.format('%.0f', first)
  local highest = count == 1 and fence or string.format('%.0f', first + count - 1)
  redis.call('SET', KEYS[3], highest, 'PX', DAY)
  return fence
end

local function hold(token, ms)
  if ms > 0 then
    redis.call('SET', KEYS[1], token, 'PX', ms)
  else
    redis.call('SET', KEYS[1], token)
  end
end

local function read(keys)
  if #keys == 0 then
    return {}
  end
  return redis.call('MGET', unpack(keys))
end

-- Let some who have asked look again after `ms`: the new holder may be frozen. With it all threads
-- of its process would be, so others are better, if there are any; and as these may be frozen, too,
-- three of them, each of another process and a little later than the one before.
local function post_watch(process, ms)
  if ms == 0 or redis.call('EXISTS', KEYS[4]) == 0 then
    return
  end
  local near
  local told, known = 0, {[process] = true}
  for _, place in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
    local token, other, channel, _, _, _, number = unpack(cjson.decode(place))
    if redis.call('SISMEMBER', KEYS[4], token) == 1 then
      local word = cjson.encode({number, 'watch', ms + told * 5})
      if other == process then
        near = near or {channel, word}
      elseif not known[other] and redis.call('SPUBLISH', channel, word) > 0 then
        known[other] = true
        told = told + 1
        if told == 3 then
          return
        end
      end
    end
  end
  if near and told == 0 then
    redis.call('SPUBLISH', near[1], near[2])
  end
end

-- Give the lock to the first in line who still listens; when nobody does it is free. Who hears
-- nothing has closed his connection: the next one's turn, at once.
--
-- He has a moment to take it, or it goes on: he may be frozen. But if he is of the process that
-- releases (`mates`, '' for none), then that process is awake, and takes it for him.
local function hand_over(mates)
  while true do
    local place = redis.call('LPOP', KEYS[2])
    if not place then
      redis.call('DEL', KEYS[1])
      return
    end
    local waiter = cjson.decode(place)
    local token, process, channel, ms, lease, count, number = unpack(waiter, 1, 7)
    local taken = process == mates
    redis.call('SREM', KEYS[4], token) -- else the set would grow for as long as the lock is busy
    local word = {number, taken and 'taken' or 'yours', raise_fence(count)}
    for _, value in ipairs(read({unpack(waiter, 8)})) do
      word[#word + 1] = value
    end
    if redis.call('SPUBLISH', channel, cjson.encode(word)) > 0 then
      hold(token, taken and lease or ms)
      post_watch(process, taken and lease or ms)
      return
    end
  end
end
