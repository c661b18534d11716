-- Makes several changes: all, or none if a checkpoint is to be appended after another number than the newest. Returns 'done', or
-- the index of that change among the appended checkpoints and the newest number, which is empty if there is none.
--
-- After the thread, the owner and the number of the changes, the arguments are the kind and the fields of each change.
local owner = ARGV[2]
if not count('ZCARD', threads) then
    return damaged('the key `threads` has another type')
end
for _, hash in ipairs({ states, attributes }) do
    if not count('HLEN', hash) then
        return damaged('the key `' .. hash .. '` has another type')
    end
end

local fields = { append = 8, write = 5, status = 1, attributes = 1 }
local changes, at = {}, 4
for i = 1, tonumber(ARGV[3]) do
    local change = { kind = ARGV[at] }
    for j = 1, fields[change.kind] do
        change[j] = ARGV[at + j]
    end
    changes[i] = change
    at = at + 1 + fields[change.kind]
end
local again = ARGV[at] == 'again'

-- The first conflict, and whether all checkpoints are stored.
local conflict, stored, newest, appends = nil, true, {}, 0
for _, change in ipairs(changes) do
    if change.kind == 'append' then
        appends = appends + 1
        local namespace, seq, base, created, content, after = unpack(change)
        local found = newest[namespace]
        if not found then
            local _, number = newest_of(namespace)
            found = number
        end
        if found ~= after and not conflict then
            conflict = { tostring(appends), found }
        end
        newest[namespace] = seq
        stored = stored and is_stored(namespace, seq, base, created, content)
    end
end
-- The reply to the first attempt was lost. That attempt may have made the changes.
if conflict and again and stored then
    return { 'done' }
end
local lost = claim_lost(claim, owner)
if lost then
    return lost
end
if conflict then
    return conflict
end

for _, change in ipairs(changes) do
    if change.kind == 'append' then
        local namespace, seq, base, created, content, _, first, last = unpack(change)
        append(namespace, seq, base, created, content, first, last)
    elseif change.kind == 'write' then
        write(unpack(change))
    elseif change.kind == 'attributes' then
        if change[1] == '' then
            redis.call('HDEL', attributes, thread)
        else
            redis.call('HSET', attributes, thread, change[1])
        end
    else
        local _, number = newest_of('')
        redis.call('HSET', states, thread, number .. '\0' .. change[1])
        if info then
            set_info(info)
        end
    end
end
return { 'done' }
