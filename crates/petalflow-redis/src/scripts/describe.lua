-- Begins the scripts that change what is listed of a thread, after `shard.lua` and `fence.lua`.
local thread, value, owner = unpack(ARGV)
local seqs, claim = KEYS[8], KEYS[13]

-- Stores what is listed of the thread in a hash, and that the thread has it.
local function set_listed(hash, content)
    redis.call('HSET', hash, thread, content)
    local info = redis.pcall('HGET', infos, thread)
    local sizes, writes, listed = parts_of_info(type(info) == 'string' and info or '')
    if not writes then
        -- The thread has no checkpoint yet, or an earlier version has stored it, or it is damaged, which its next use reports.
        return
    end
    listed = listed or listed_of(thread)
    if hash == states and listed % 2 == 0 then
        listed = listed + 1
    elseif hash == labels and listed < 2 then
        listed = listed + 2
    end
    redis.call('HSET', infos, thread, string.format('%s#%020.0f#%d', sizes, writes, listed))
end
