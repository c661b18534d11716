-- Returns the namespaces of a thread. They are also in the names of its checkpoints and writes.

local used, total = {}, 0
for _, set in ipairs({ seqs, marks }) do
    local member = redis.call('ZRANGEBYLEX', set, '-', '+', 'LIMIT', 0, 1)[1]
    while member do
        local stop = string.find(member, '\0', 1, true)
        if not stop then
            return damaged('a member of its set `seqs` or `marks` is `' .. member .. '`')
        end
        local namespace = string.sub(member, 1, stop - 1)
        if not used[namespace] then
            used[namespace] = true
            total = total + 1
        end
        member = redis.call('ZRANGEBYLEX', set, '(' .. namespace .. '\1', '+', 'LIMIT', 0, 1)[1]
    end
end

local found = redis.call('ZRANGEBYLEX', namespaces, '-', '+')
if redis.call('ZCOUNT', namespaces, 0, 0) ~= #found then
    return damaged('a member of its set `namespaces` has a score')
end
for _, namespace in ipairs(found) do
    if not used[namespace] then
        return damaged('its set `namespaces` has `' .. namespace .. '`, in which nothing is stored')
    end
end
if #found ~= total then
    return damaged(string.format('its set `namespaces` has %d of %d namespaces', #found, total))
end
return found
