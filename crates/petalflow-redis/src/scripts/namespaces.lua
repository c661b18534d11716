-- Returns the namespaces of a thread.
return redis.call('ZRANGE', KEYS[1], 0, -1)
