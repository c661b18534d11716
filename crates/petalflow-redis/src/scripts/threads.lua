-- Returns the threads of one shard in a range: ids, each followed by the information about the thread, its status and its labels.
-- If a thread with the prefix is in only one of the two lists of the shard: no id, followed by the thread.
local threads, infos, states, labels = unpack(KEYS)
local from, beyond, limit, prefix = unpack(ARGV)

for _, hash in ipairs({ infos, states, labels }) do
    if not count('HLEN', hash) then
        return damaged('the key `' .. hash .. '` has another type')
    end
end
local members = count('ZCARD', threads)
if not members then
    return damaged('the key `' .. threads .. '` has another type')
end
local function is_damaged(thread)
    return string.sub(thread, 1, #prefix) == prefix
        and (redis.call('ZSCORE', threads, thread) ~= '0' or redis.call('HEXISTS', infos, thread) == 0)
end
if redis.call('HLEN', infos) ~= members or redis.call('ZCOUNT', threads, 0, 0) ~= members then
    for _, names in ipairs({ redis.call('HKEYS', infos), redis.call('ZRANGE', threads, 0, -1) }) do
        for _, thread in ipairs(names) do
            if is_damaged(thread) then
                return { false, thread }
            end
        end
    end
end
-- A prefix may be a thread, whose id in the set was changed.
if redis.call('HEXISTS', infos, prefix) == 1 and is_damaged(prefix) then
    return { false, prefix }
end

local found = {}
for _, thread in ipairs(redis.call('ZRANGEBYLEX', threads, from, beyond, 'LIMIT', 0, limit)) do
    found[#found + 1] = thread
    found[#found + 1] = redis.call('HGET', infos, thread) or ''
    found[#found + 1] = redis.call('HGET', states, thread) or ''
    found[#found + 1] = redis.call('HGET', labels, thread) or ''
end
return found
