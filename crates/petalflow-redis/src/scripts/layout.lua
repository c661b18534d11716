-- Returns the version of the stored layout. If there is none or an earlier one, stores the version of the caller, which reads both:
-- earlier programs do not read what it stores.
local found = redis.call('GET', KEYS[1])
if not found or string.find(found, '^%d+$') and tonumber(found) < tonumber(ARGV[1]) then
    found = ARGV[1]
    redis.call('SET', KEYS[1], found)
end
return found
