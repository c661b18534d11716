-- Renews the claim of an owner for some milliseconds. Returns 1, or 0 if the owner does not have it.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
    return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
