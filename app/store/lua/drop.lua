-- Drop a dead letter for good, and count it for its round: once, however many try.
--
-- KEYS    1 dead letters (stream)   2 dropped (hash)
--         where its sale can be read:   3 the sale under its order's id   4 ... under its key
-- ARGV    1 the dead letter's id   2 the round's number
--         3 the sale   4 the record that says that it was dropped   5 s to keep this record
-- returns 1; 0 when the dead letter was gone

if #redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1]) == 0 then
  return 0
end
if KEYS[3] then
  redis.call('SET', KEYS[3], ARGV[4], 'EX', ARGV[5])
  -- Another sale under this key is an order that the key has bought before: it stays.
  if redis.call('GET', KEYS[4]) == ARGV[3] then
    redis.call('SET', KEYS[4], ARGV[4], 'EX', ARGV[5])
  end
end
redis.call('HINCRBY', KEYS[2], ARGV[2], 1)
return redis.call('XDEL', KEYS[1], ARGV[1])
