-- Begins each script that uses the checkpoints or the writes of a thread, after `shard.lua`: names its keys, and checks it.
local seqs, bytes, marks, values, namespaces, claim = unpack(KEYS, 8)
local thread = ARGV[1]
-- Its field of the hash `infos` without the number of its writes and what is listed of it, or false.
local info

-- Returns what is damaged of a set and a hash with the same names, or nil.
local function damage_of_pair(set_name, set, hash_name, hash)
    local members, fields = count('ZCARD', set), count('HLEN', hash)
    if not members or not fields then
        return 'its key `' .. (members and hash_name or set_name) .. '` has another type'
    end
    if members ~= fields then
        return string.format('its set `%s` has %d members, and its hash `%s` has %d', set_name, members, hash_name, fields)
    end
    if redis.call('ZCOUNT', set, 0, 0) ~= members then
        return 'a member of its set `' .. set_name .. '` has a score'
    end
end

-- Stores its field of the hash `infos`, with the number of its writes and what is listed of it.
local function set_info(value)
    info = value
    local beside = redis.call('ZCARD', marks)
    redis.call('HSET', infos, thread, string.format('%s#%020.0f#%d', info, beside, listed_of(thread)))
end

-- Returns what is damaged of the thread, whose checkpoints and writes are counted in three places, or nil.
local function damage_of_thread()
    local problem = damage_of_shard() or damage_of_pair('seqs', seqs, 'bytes', bytes) or damage_of_pair('marks', marks, 'values', values)
    if problem then
        return problem
    end
    if not count('ZCARD', namespaces) then
        return 'its key `namespaces` has another type'
    end
    info = redis.pcall('HGET', infos, thread)
    if type(info) == 'table' then
        return 'the key `infos` has another type'
    end
    local written
    if info then
        local sizes, writes, listed = parts_of_info(info)
        if not sizes then
            return 'its field of the hash `infos` is `' .. info .. '`'
        end
        local missing = damage_of_listed(thread, listed or 0)
        if missing then
            return missing
        end
        info, written = sizes, writes
    end
    local beside = redis.call('ZCARD', marks)
    if written and written ~= beside then
        return string.format('the hash `infos` counts %.0f writes of it, and its set `marks` has %d', written, beside)
    end
    local counted, members = info and tonumber(string.sub(info, 1, 20)) or 0, redis.call('ZCARD', seqs)
    if counted ~= members then
        return string.format('the hash `infos` counts %.0f checkpoints of it, and its set `seqs` has %d', counted, members)
    end
    local newest = redis.call('ZREVRANGEBYLEX', seqs, '(\1', '[\0', 'LIMIT', 0, 1)[1]
    local own, in_seqs = string.sub(info or '', 81), newest and string.sub(newest, 2, 21) or ''
    if own ~= in_seqs then
        return 'its newest checkpoint is `' .. own .. '` in the hash `infos`, and `' .. in_seqs .. '` in its set `seqs`'
    end
end

local problem = damage_of_thread()
if problem then
    return damaged(problem)
end
