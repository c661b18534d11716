-- Changes of a thread, for the scripts that make them. They come after `thread.lua`.

-- Returns the newest checkpoint of a namespace: its member of `seqs`, and its number, which is empty if there is none.
local function newest_of(namespace)
    local at = namespace .. '\0'
    local newest = redis.call('ZREVRANGEBYLEX', seqs, '(' .. namespace .. '\1', '[' .. at, 'LIMIT', 0, 1)[1]
    return newest, newest and string.sub(newest, #at + 1, #at + 20) or ''
end

-- Whether this checkpoint is stored.
local function is_stored(namespace, seq, base, created, content)
    local at = namespace .. '\0'
    return redis.call('ZSCORE', seqs, at .. seq .. base .. created) and redis.call('HGET', bytes, at .. seq) == content
end

-- When the thread changed last: the latest time of the newest checkpoints of its namespaces.
local function changed()
    local latest, below = '', '+'
    while true do
        local newest = redis.call('ZREVRANGEBYLEX', seqs, below, '-', 'LIMIT', 0, 1)[1]
        if not newest then
            return latest
        end
        local created = string.sub(newest, -20)
        if created > latest then
            latest = created
        end
        below = '(' .. string.sub(newest, 1, (string.find(newest, '\0', 1, true)))
    end
end

-- Appends a checkpoint, and removes the settled writes.
local function append(namespace, seq, base, created, content, first, last)
    local at = namespace .. '\0'
    redis.call('ZADD', seqs, 0, at .. seq .. base .. created)
    redis.call('HSET', bytes, at .. seq, content)
    redis.call('ZADD', namespaces, 0, namespace)

    local checkpoints, size, updated, begun, own = 0, 0, created, created, ''
    local has_begun = info
    if info then
        checkpoints = tonumber(string.sub(info, 1, 20))
        size = tonumber(string.sub(info, 21, 40))
        begun = string.sub(info, 61, 80)
        -- The first checkpoint of a sub-flow is older if the clock went back.
        if created < begun and redis.call('ZLEXCOUNT', seqs, '[' .. at, '(' .. namespace .. '\1') == 1 then
            begun = created
        end
        own = string.sub(info, 81)
        if string.sub(info, 41, 60) > updated then
            updated = changed()
        end
    else
        redis.call('ZADD', threads, 0, thread)
    end
    if namespace == '' then
        own = seq
    end
    local settled = redis.call('ZRANGEBYLEX', marks, '[' .. at .. first, '(' .. at .. last)
    for _, mark in ipairs(settled) do
        redis.call('HDEL', values, mark)
        redis.call('ZREM', marks, mark)
    end
    local sizes = string.format('%020.0f%020.0f', checkpoints + 1, size + #content)
    set_info(sizes .. updated .. begun .. own)
    if not has_begun then
        set_totals()
    end
end

-- Adds a write beside a number.
local function write(namespace, seq, task, name, content)
    local mark = namespace .. '\0' .. seq .. task .. name
    redis.call('ZADD', marks, 0, mark)
    redis.call('HSET', values, mark, content)
    redis.call('ZADD', namespaces, 0, namespace)
    if info then
        set_info(info)
    end
end
