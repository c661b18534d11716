-- Returns the number in a key, or 0.
local found = redis.pcall('GET', KEYS[1]) or '0'
if type(found) == 'table' or not string.find(found, '^%d+$') then
    return damaged('the key `' .. KEYS[1] .. '` is not a number')
end
return tonumber(found)
