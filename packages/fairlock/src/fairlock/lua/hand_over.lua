-- Shared by the scripts of a lock; scripts.py puts it in front of three of them.
--
-- KEYS    1 lock (owner token)   2 the line (list)   3 fence (highest fencing token)
--         4 asked (set: tokens of waiters that waited long and asked for their position)
-- A place in the line is JSON: {token, process, channel, ms to take the lock, lease in ms, fencing
-- tokens wanted, number, keys to read...}. A message to its waiter is JSON, too: {number, "yours",
-- fence, values...}, {number, "taken", fence, values...} or {number, "watch", ms}. Each new place
-- has a new number, so that a late message to an earlier place does not count.

local DAY = '86400000' -- ms: then an abandoned lock's other keys expire

-- Reserve `count` fencing tokens above all earlier ones, and return the first. If the key has expired
-- or the server has lost its newest writes, the clock has advanced meanwhile.
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

-- Let up to three waiters that have asked check again after `ms`, each 5 ms later than the last: the
-- new holder may be frozen, with all threads of its process. Each waiter is of another process, as it
-- may be frozen, too. A waiter of the holder's process serves only if there is no other.
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

-- Give the lock to the first waiter that still listens; if there is none, free it. A waiter that does
-- not listen has closed its connection, and is skipped at once.
--
-- The waiter may be frozen, so it must soon take the lock, or the next one gets it. But a waiter of
-- the releasing process (`mates`, '' for none) is awake: it gets the lock for its whole lease.
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
    redis.call('SREM', KEYS[4], token) -- else the set grows as long as the lock is busy
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
