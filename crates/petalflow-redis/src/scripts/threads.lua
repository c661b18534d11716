-- Returns the threads of one shard in a range: ids, each followed by the information about the thread, its status and its labels.
local threads, infos, states, labels = unpack(KEYS)
local found = {}
for _, thread in ipairs(redis.call('ZRANGEBYLEX', threads, ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])) do
    found[#found + 1] = thread
    found[#found + 1] = redis.call('HGET', infos, thread)
    found[#found + 1] = redis.call('HGET', states, thread) or ''
    found[#found + 1] = redis.call('HGET', labels, thread) or ''
end
return found
