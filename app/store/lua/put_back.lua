-- Put the units of a hold that is over back into stock: once, whoever else tries to.
--
-- KEYS    1 held (hash)   2 units that the buyer has in the round, where that is counted
--         3 … where the stock may be: the first that exists has it
-- ARGV    1 the order's id   2 units
-- returns 1, also when they are back already; 0: the stock is in none of them

if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 1
end
for i = 3, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then
    redis.call('INCRBY', KEYS[i], ARGV[2])
    if redis.call('EXISTS', KEYS[2]) == 1 then
      redis.call('DECRBY', KEYS[2], ARGV[2])
    end
    return redis.call('HDEL', KEYS[1], ARGV[1])
  end
end
return 0
