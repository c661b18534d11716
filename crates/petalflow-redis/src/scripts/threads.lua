-- Returns the threads of one shard in a range: ids, each followed by the information about the thread, its status, labels and attributes.
-- For a thread that is in only one of the two lists of the shard: no id, followed by the thread.
local from, beyond, limit, prefix = unpack(ARGV)

for _, hash in ipairs({ infos, states, labels, attributes }) do
    if not count('HLEN', hash) then
        return damaged('the key `' .. hash .. '` has another type')
    end
end
local members = count('ZCARD', threads)
if not members then
    return damaged('the key `' .. threads .. '` has another type')
end
local problem = damage_of_shard()
if problem then
    return damaged(problem)
end

-- The threads of both lists in the range, for a shard whose lists do not fit together.
local function threads_of_both_lists()
    local seen, names, first, last = {}, {}, string.sub(from, 2), string.sub(beyond, 2)
    for _, list in ipairs({ redis.call('HKEYS', infos), redis.call('ZRANGE', threads, 0, -1) }) do
        for _, name in ipairs(list) do
            local after = name > first or name == first and string.sub(from, 1, 1) == '['
            if after and (beyond == '+' or name < last) and not seen[name] then
                seen[name] = true
                names[#names + 1] = name
            end
        end
    end
    table.sort(names)
    local most, page = tonumber(limit), {}
    for i = 1, most < 0 and #names or math.min(most, #names) do
        page[i] = names[i]
    end
    return page
end

local found = {}
local function add(thread)
    local info = redis.call('HGET', infos, thread)
    if not info or redis.call('ZSCORE', threads, thread) ~= '0' then
        found[#found + 1] = false
        found[#found + 1] = thread
        return
    end
    found[#found + 1] = thread
    found[#found + 1] = info
    found[#found + 1] = redis.call('HGET', states, thread)
    found[#found + 1] = redis.call('HGET', labels, thread)
    found[#found + 1] = redis.call('HGET', attributes, thread)
end

-- A prefix may be a thread, whose id in the set was changed.
if redis.call('HEXISTS', infos, prefix) == 1 and redis.call('ZSCORE', threads, prefix) ~= '0' then
    add(prefix)
end
local names
if redis.call('HLEN', infos) == members and redis.call('ZCOUNT', threads, 0, 0) == members then
    names = redis.call('ZRANGEBYLEX', threads, from, beyond, 'LIMIT', 0, limit)
else
    names = threads_of_both_lists()
end
for _, thread in ipairs(names) do
    add(thread)
end
return found
