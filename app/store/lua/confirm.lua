-- Tell the store how many orders the database has. The count only rises: a database that has fewer
-- orders now has lost some.
--
-- KEYS    1 orders of each round (hash)
-- ARGV    1 the round's number   2 how many orders the database has
-- returns nothing

if tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0') < tonumber(ARGV[2]) then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
end
