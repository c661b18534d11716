-- Begins each script: how it reports damage.

-- An error that says what is damaged.
local function damaged(problem)
    -- An error is one line of text.
    return redis.error_reply('DAMAGED ' .. string.gsub(problem, '[^ -~]', '?'))
end

-- Returns what a command counts in a key, or nil if the key has another type.
local function count(command, key)
    local found = redis.pcall(command, key)
    return type(found) == 'number' and found or nil
end
