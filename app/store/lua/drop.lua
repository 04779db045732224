-- Drop a dead letter for good, and count it for its round: once, whoever else tries to.
--
-- KEYS    1 dead letters (stream)   2 dropped (hash)
-- ARGV    1 the dead letter's id   2 the round's number
-- returns 1; 0 when it was gone

if #redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1]) == 0 then
  return 0
end
redis.call('HINCRBY', KEYS[2], ARGV[2], 1)
return redis.call('XDEL', KEYS[1], ARGV[1])
