TAKE = """
local left = tonumber(redis.call('GET', KEYS[1]))
if left < 1 then return 0 end
redis.call('DECR', KEYS[1])
redis.call('RPUSH', KEYS[2], ARGV[1])
return 1
"""


def sell(redis, buyer):
    take = redis.register_script(TAKE)
    return take(keys=["stock", "orders"], args=[buyer]) == 1
