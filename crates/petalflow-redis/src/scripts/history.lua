-- Returns the checkpoints below a number, or all of them if the number is empty, newest first: names, each followed by its
-- bytes.
local _, namespace, before, limit = unpack(ARGV)
local at = namespace .. '\0'
local below = before == '' and namespace .. '\1' or at .. before
local history = {}
for _, link in ipairs(redis.call('ZREVRANGEBYLEX', seqs, '(' .. below, '[' .. at, 'LIMIT', 0, limit)) do
    history[#history + 1] = string.sub(link, #at + 1)
    history[#history + 1] = redis.call('HGET', bytes, string.sub(link, 1, #at + 20))
end
return history
