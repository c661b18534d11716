-- Returns the writes beside a range of numbers: names, each followed by its bytes.
local _, infos, seqs, bytes, marks, values, namespaces = unpack(KEYS)
local thread, namespace, first, last = unpack(ARGV)
local at = namespace .. '\0'
local problem = damage_of(thread, infos, seqs, bytes, marks, values, namespaces)
if problem then
    return damaged(problem)
end
local writes = {}
for _, mark in ipairs(redis.call('ZRANGEBYLEX', marks, '[' .. at .. first, '(' .. at .. last)) do
    writes[#writes + 1] = string.sub(mark, #at + 1)
    writes[#writes + 1] = redis.call('HGET', values, mark)
end
return writes
