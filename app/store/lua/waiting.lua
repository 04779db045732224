-- How long sales have waited to become orders, by this server's clock.
--
-- KEYS    streams of sales; what is in the database is not in them any more
-- returns for each of them the age of its oldest entry, ms; -1 when it is empty

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ages = {}
for place, stream in ipairs(KEYS) do
  local oldest = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
  ages[place] = oldest and now - tonumber(string.match(oldest[1], '^%d+')) or -1
end
return ages
