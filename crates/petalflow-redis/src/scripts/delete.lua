-- Removes a thread.
local threads, infos = KEYS[1], KEYS[2]
redis.call('ZREM', threads, ARGV[1])
redis.call('HDEL', infos, ARGV[1])
for i = 3, #KEYS do
    redis.call('UNLINK', KEYS[i])
end
