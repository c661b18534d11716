-- Returns the writes beside a range of numbers: names, each followed by its bytes.
local marks, values = unpack(KEYS)
local at = ARGV[1] .. '\0'
local writes = {}
for _, mark in ipairs(redis.call('ZRANGEBYLEX', marks, '[' .. at .. ARGV[2], '(' .. at .. ARGV[3])) do
    writes[#writes + 1] = string.sub(mark, #at + 1)
    writes[#writes + 1] = redis.call('HGET', values, mark)
end
return writes
