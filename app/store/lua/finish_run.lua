-- End a run: its last record and its last event in one step, and only once.
--
-- KEYS    1 the run as it ended   2 its events   3 the item's heartbeat
-- ARGV    1 the record   2 the event's data   3 the run's id   4 how long both are kept, s
-- returns 1, or 0 when the run has ended before (nothing is changed then)

if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'EX', ARGV[4]) then
  return 0
end
redis.call('XADD', KEYS[2], '*', 'kind', 'end', 'data', ARGV[2])
redis.call('EXPIRE', KEYS[2], ARGV[4])
if redis.call('GET', KEYS[3]) == ARGV[3] then
  redis.call('DEL', KEYS[3])
end
return 1
