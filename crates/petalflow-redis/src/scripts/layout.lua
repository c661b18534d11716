-- Returns the version of the stored layout. If there is none, stores the version of the caller.
local found = redis.call('GET', KEYS[1])
if not found then
    found = ARGV[1]
    redis.call('SET', KEYS[1], found)
end
return found
