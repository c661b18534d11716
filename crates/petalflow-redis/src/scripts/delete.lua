-- Removes threads of one shard. After the lists of the shard, the keys are those of each thread.
local threads, infos, states, labels = unpack(KEYS)
-- Checked before anything changes, so that no thread is removed in part.
for _, hash in ipairs({ infos, states, labels }) do
    if not count('HLEN', hash) then
        return damaged('the key `' .. hash .. '` has another type')
    end
end
if not count('ZCARD', threads) then
    return damaged('the key `' .. threads .. '` has another type')
end
for _, thread in ipairs(ARGV) do
    redis.call('ZREM', threads, thread)
    redis.call('HDEL', infos, thread)
    redis.call('HDEL', states, thread)
    redis.call('HDEL', labels, thread)
end
for i = 5, #KEYS do
    redis.call('UNLINK', KEYS[i])
end
