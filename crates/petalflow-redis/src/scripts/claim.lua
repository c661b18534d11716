-- Claims for some milliseconds unless another owner has it: that owner, or nothing if granted.
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then
    return owner
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return nil
