-- Begins each script that uses the lists of a shard, after `damage.lua`: names their keys, and compares them.
--
-- A server that removes keys removes one of them with what it says of all threads of the shard.
local threads, infos, states, labels, attributes, deleted, totals = unpack(KEYS)

-- Returns the number of deleted threads and whether the shard has threads, as `totals` says: nil if an earlier version has stored
-- the shard. Then what is damaged of `totals`.
local function read_totals()
    local found = redis.pcall('GET', totals)
    if not found then
        return nil, nil
    end
    local gone, has = string.match(type(found) == 'string' and found or '', '^(%d+)#([01])$')
    if not gone then
        return nil, nil, 'the key `totals` is not two numbers'
    end
    return tonumber(gone), has == '1'
end

-- Returns the number of threads that were deleted, or nil if it is damaged. One of the two keys with it is enough.
local function deleted_threads()
    local counted = redis.pcall('GET', deleted) or '0'
    if type(counted) == 'table' or not string.find(counted, '^%d+$') then
        return nil
    end
    return math.max(tonumber(counted), read_totals() or 0)
end

-- Returns what is damaged of the lists, or nil.
local function damage_of_shard()
    local _, has, problem = read_totals()
    if problem then
        return problem
    end
    if has and redis.call('EXISTS', threads, infos) == 0 then
        return 'the keys `threads` and `infos` of its shard are missing'
    end
end

-- Stores what the other keys of the shard are compared with.
local function set_totals()
    local has = redis.call('EXISTS', threads, infos) > 0 and '1' or '0'
    redis.call('SET', totals, string.format('%.0f#%s', deleted_threads() or 0, has))
end

-- Whether a hash has a field for a thread. A key of another type has none.
local function has_field(hash, thread)
    return redis.pcall('HEXISTS', hash, thread) == 1
end

-- Returns the parts of a field of the hash `infos`: the sizes and numbers, the number of writes, and what is listed of the thread.
-- An earlier version has not stored the last ones. Nil if it is damaged.
local function parts_of_info(info)
    local sizes, rest = string.match(info, '^(%d+)(.*)$')
    if not sizes or #sizes ~= 80 and #sizes ~= 100 then
        return nil
    end
    if rest == '' then
        return sizes
    end
    local writes, listed = string.match(rest, '^#(%d+)#([0-3])$')
    writes = writes or string.match(rest, '^#(%d+)$')
    if not writes or #writes ~= 20 then
        return nil
    end
    return sizes, tonumber(writes), tonumber(listed)
end

-- Returns what is listed of a thread beside its checkpoints: 1 for a status, and 2 for labels.
local function listed_of(thread)
    return (has_field(states, thread) and 1 or 0) + (has_field(labels, thread) and 2 or 0)
end

-- Returns what is missing of that, or nil.
local function damage_of_listed(thread, listed)
    if listed % 2 == 1 and not has_field(states, thread) then
        return 'the hash `states` lacks its status'
    end
    if listed >= 2 and not has_field(labels, thread) then
        return 'the hash `labels` lacks its labels'
    end
end
