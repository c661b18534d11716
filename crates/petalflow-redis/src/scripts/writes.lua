-- Returns the writes beside a range of numbers: names, each followed by its bytes.
local _, namespace, first, last = unpack(ARGV)
local at = namespace .. '\0'
local writes = {}
for _, mark in ipairs(redis.call('ZRANGEBYLEX', marks, '[' .. at .. first, '(' .. at .. last)) do
    writes[#writes + 1] = string.sub(mark, #at + 1)
    writes[#writes + 1] = redis.call('HGET', values, mark)
end
return writes
