"""A fair lock on Redis: first come, first served; drop-in for redis.lock.Lock."""
