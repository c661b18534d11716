-- Removes threads of one shard. After the lists of the shard, the keys are those of each thread.
local threads, infos, states, labels = unpack(KEYS)
for _, thread in ipairs(ARGV) do
    redis.call('ZREM', threads, thread)
    redis.call('HDEL', infos, thread)
    redis.call('HDEL', states, thread)
    redis.call('HDEL', labels, thread)
end
for i = 5, #KEYS do
    redis.call('UNLINK', KEYS[i])
end
