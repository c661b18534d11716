-- Comes before a script that changes a thread, after `damage.lua`: whether the call may write to it.

-- Returns an error unless the owner has the claim in a key. An owner is '=' and its name, or empty if nothing is checked.
local function claim_lost(key, owner)
    if owner == '' then
        return nil
    end
    local found = redis.pcall('GET', key)
    if type(found) == 'table' then
        return damaged('the key `' .. key .. '` has another type')
    end
    if found ~= string.sub(owner, 2) then
        return redis.error_reply('CLAIMLOST another owner may have the claim')
    end
end
