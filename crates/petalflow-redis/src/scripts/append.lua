-- Appends a checkpoint if the newest number is the one that the caller knows, and removes the settled writes. Returns 'done',
-- or the newest number, which is empty if there is none.
local _, namespace, seq, base, created, content, after, first, last, again = unpack(ARGV)
local at = namespace .. '\0'
if not count('ZCARD', threads) then
    return damaged('the key `threads` has another type')
end

local member = at .. seq .. base .. created
local newest = redis.call('ZREVRANGEBYLEX', seqs, '(' .. namespace .. '\1', '[' .. at, 'LIMIT', 0, 1)[1]
local found = newest and string.sub(newest, #at + 1, #at + 20) or ''
if found ~= after then
    -- The reply to the first attempt was lost. That attempt may have appended the checkpoint.
    if again == 'again' and newest == member and redis.call('HGET', bytes, at .. seq) == content then
        return 'done'
    end
    return found
end

redis.call('ZADD', seqs, 0, member)
redis.call('HSET', bytes, at .. seq, content)
redis.call('ZADD', namespaces, 0, namespace)

local checkpoints, size, updated, begun, own = 0, 0, created, created, ''
if info then
    checkpoints = tonumber(string.sub(info, 1, 20))
    size = tonumber(string.sub(info, 21, 40))
    begun = string.sub(info, 61, 80)
    own = string.sub(info, 81)
    local before = string.sub(info, 41, 60)
    if before > updated then
        updated = before
    end
else
    redis.call('ZADD', threads, 0, thread)
end
if namespace == '' then
    own = seq
end
local sizes = string.format('%020.0f%020.0f', checkpoints + 1, size + #content)
redis.call('HSET', infos, thread, sizes .. updated .. begun .. own)

local settled = redis.call('ZRANGEBYLEX', marks, '[' .. at .. first, '(' .. at .. last)
for _, mark in ipairs(settled) do
    redis.call('HDEL', values, mark)
    redis.call('ZREM', marks, mark)
end
return 'done'
