-- Move an entry of a round's stream to the item's dead letters: once, however many try.
--
-- KEYS    1 sales (stream)   2 dead letters (stream)   3 stock   4 ... of a round that has ended
--         5 the buyer's units in this round, if the round limits them
-- ARGV    1 the entry's id   2 the consumer group   3 units to put back into the stock
--         4 … what the dead letter says: field, value, …
-- returns the dead letter's id; false when the entry was gone

if #redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1]) == 0 then
  return false
end
-- First the call that can fail (wrong type, no memory): a script undoes nothing.
local id = redis.call('XADD', KEYS[2], '*', unpack(ARGV, 4))
if tonumber(ARGV[3]) > 0 then
  local stock = redis.call('EXISTS', KEYS[4]) == 1 and KEYS[4] or KEYS[3]
  redis.call('INCRBY', stock, ARGV[3])
  if redis.call('DECRBY', KEYS[5], ARGV[3]) <= 0 then
    redis.call('DEL', KEYS[5])
  end
end
redis.call('XDEL', KEYS[1], ARGV[1])
redis.call('XACK', KEYS[1], ARGV[2], ARGV[1])
return id
