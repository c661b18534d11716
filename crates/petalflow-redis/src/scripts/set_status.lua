-- Sets the status of a thread. It holds while the newest checkpoint of the thread's own flow is the one of now.
local lost = claim_lost(claim, owner)
if lost then
    return lost
end
local newest = redis.call('ZREVRANGEBYLEX', seqs, '(\1', '[\0', 'LIMIT', 0, 1)[1]
local at = newest and string.sub(newest, 2, 21) or ''
set_listed(states, at .. '\0' .. value)
