-- The layout of what is stored: that of the caller, if nothing is stored yet.
local found = redis.call('GET', KEYS[1])
if not found then
    found = ARGV[1]
    redis.call('SET', KEYS[1], found)
end
return found
