-- Read the stock and show the caller's fencing token, unless a newer token was shown before.
--
-- KEYS    1 the highest token shown   2 stock   3 the sale under its key
--         4 the buyer's units in this round, if the round limits them
-- ARGV    1 the caller's fencing token
-- returns {stock or false, the sale made earlier under this key or false, with a limit also the
--         buyer's units or false}; false: refused

if tonumber(ARGV[1]) < tonumber(redis.call('GET', KEYS[1]) or '0') then
  return false
end

-- Reading raises it, too: from now on, a holder that read earlier cannot write any more.
redis.call('SET', KEYS[1], ARGV[1])
return redis.call('MGET', unpack(KEYS, 2))
