-- Claims a thread for some milliseconds, unless another owner has it. Returns that owner, or nil if the claim is granted.
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then
    if redis.call('PTTL', KEYS[1]) == -1 then
        return damaged('its claim does not expire; delete the key `' .. KEYS[1] .. '` if no run has the thread')
    end
    return owner
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return nil
