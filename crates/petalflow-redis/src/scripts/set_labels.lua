-- Sets the labels of a thread.
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
