-- Read the stock and show my fencing token, unless a newer one was shown before.
--
-- KEYS    1 the highest token shown   2 stock   3 the sale under its key
--         4 the buyer's units in this round, where it limits them
-- ARGV    1 my fencing token
-- returns {stock or false, the sale made earlier under this key or false, the buyer's units or false
--         where they are limited}; false: refused

if tonumber(ARGV[1]) < tonumber(redis.call('GET', KEYS[1]) or '0') then
  return false
end

-- Reading raises it, too: from now on, whoever read before me can write no more.
redis.call('SET', KEYS[1], ARGV[1])
return redis.call('MGET', unpack(KEYS, 2))
