-- Sets the labels of a thread.
local lost = claim_lost(KEYS[2], ARGV[3])
if lost then
    return lost
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
