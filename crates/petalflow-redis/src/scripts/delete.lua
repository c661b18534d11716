-- Removes threads of one shard. After the keys of the shard, there are six keys for each thread: those of its contents, and its
-- claim. The first argument is the owner. Returns a thread that remains because its claim is lost.
local LISTS, EACH = 7, 6
-- Checked before anything changes, so that no thread is removed in part.
for _, hash in ipairs({ infos, states, labels, attributes }) do
    if not count('HLEN', hash) then
        return damaged('the key `' .. hash .. '` has another type')
    end
end
if not count('ZCARD', threads) then
    return damaged('the key `' .. threads .. '` has another type')
end
local counted = deleted_threads()
if not counted then
    return damaged('the key `' .. deleted .. '` is not a number')
end

local left = false
for i = 2, #ARGV do
    local thread, first = ARGV[i], LISTS + EACH * (i - 2) + 1
    if claim_lost(KEYS[first + EACH - 1], ARGV[1]) then
        left = thread
    else
        redis.call('ZREM', threads, thread)
        redis.call('HDEL', infos, thread)
        redis.call('HDEL', states, thread)
        redis.call('HDEL', labels, thread)
        redis.call('HDEL', attributes, thread)
        local gone = 0
        for key = first, first + EACH - 2 do
            gone = gone + redis.call('UNLINK', KEYS[key])
        end
        if gone > 0 then
            counted = counted + 1
        end
    end
end
if counted > 0 then
    redis.call('SET', deleted, string.format('%.0f', counted))
    set_totals()
end
return left
