-- Removes the checkpoints below a number, and the writes beside numbers below another.
local _, owner, namespace, seq, writes = unpack(ARGV)
local lost = claim_lost(claim, owner)
if lost then
    return lost
end
local at = namespace .. '\0'

local gone, size = 0, 0
for _, member in ipairs(redis.call('ZRANGEBYLEX', seqs, '[' .. at, '(' .. at .. seq)) do
    local name = string.sub(member, 1, #at + 20)
    gone = gone + 1
    size = size + redis.call('HSTRLEN', bytes, name)
    redis.call('HDEL', bytes, name)
    redis.call('ZREM', seqs, member)
end
for _, mark in ipairs(redis.call('ZRANGEBYLEX', marks, '[' .. at, '(' .. at .. writes)) do
    redis.call('HDEL', values, mark)
    redis.call('ZREM', marks, mark)
end

local beyond = '(' .. namespace .. '\1'
local left = redis.call('ZLEXCOUNT', seqs, '[' .. at, beyond) + redis.call('ZLEXCOUNT', marks, '[' .. at, beyond)
if left == 0 then
    redis.call('ZREM', namespaces, namespace)
end
if not info then
    return
end
if gone == 0 then
    set_info(info)
    return
end
local checkpoints = tonumber(string.sub(info, 1, 20)) - gone
if checkpoints == 0 then
    redis.call('HDEL', infos, thread)
    redis.call('ZREM', threads, thread)
    set_totals()
    return
end
local bytes_left = tonumber(string.sub(info, 21, 40)) - size
local sizes = string.format('%020.0f%020.0f', checkpoints, bytes_left)
-- Without its newest checkpoint if its own flow has none any more.
local own = redis.call('ZLEXCOUNT', seqs, '[\0', '(\1') > 0 and string.sub(info, 81) or ''
set_info(sizes .. changed() .. string.sub(info, 61, 80) .. own)
