-- Appends a checkpoint if the newest number is the one that the caller knows, and removes the settled writes. Returns 'done',
-- or the newest number, which is empty if there is none.
local _, owner, namespace, seq, base, created, content, after, first, last, again = unpack(ARGV)
if not count('ZCARD', threads) then
    return damaged('the key `threads` has another type')
end

local newest, found = newest_of(namespace)
-- The reply to the first attempt was lost. That attempt may have appended the checkpoint.
local member = namespace .. '\0' .. seq .. base .. created
if again == 'again' and newest == member and is_stored(namespace, seq, base, created, content) then
    return 'done'
end
local lost = claim_lost(claim, owner)
if lost then
    return lost
end
if found ~= after then
    return found
end
append(namespace, seq, base, created, content, first, last)
return 'done'
