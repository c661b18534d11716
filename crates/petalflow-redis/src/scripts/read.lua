-- Returns the checkpoint with a number, or the newest if the number is empty: two lists of names, each name followed by its
-- bytes. The first list is the chain, the second the writes beside the checkpoint.
local _, namespace, seq = unpack(ARGV)
local at = namespace .. '\0'

local member
if seq == '' then
    member = redis.call('ZREVRANGEBYLEX', seqs, '(' .. namespace .. '\1', '[' .. at, 'LIMIT', 0, 1)[1]
else
    member = redis.call('ZRANGEBYLEX', seqs, '[' .. at .. seq, '[' .. at .. seq .. ':', 'LIMIT', 0, 1)[1]
end
if not member then
    return false
end
seq = string.sub(member, #at + 1, #at + 20)
local base = string.sub(member, #at + 21, #at + 40)
if base > seq then
    -- A damaged base must not hide the checkpoint. The reader of the chain reports the damage.
    base = seq
end

local chain = {}
for _, link in ipairs(redis.call('ZRANGEBYLEX', seqs, '[' .. at .. base, '[' .. member)) do
    chain[#chain + 1] = string.sub(link, #at + 1)
    chain[#chain + 1] = redis.call('HGET', bytes, string.sub(link, 1, #at + 20))
end
local writes = {}
-- A number ends with a digit. The next character after '9' is ':'.
local beyond = at .. string.sub(seq, 1, 19) .. string.char(string.byte(seq, 20) + 1)
for _, mark in ipairs(redis.call('ZRANGEBYLEX', marks, '[' .. at .. seq, '(' .. beyond)) do
    writes[#writes + 1] = string.sub(mark, #at + 1)
    writes[#writes + 1] = redis.call('HGET', values, mark)
end
return { chain, writes }
