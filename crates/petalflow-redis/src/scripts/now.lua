-- Returns the time of the server, in milliseconds since 1970.
local now = redis.call('TIME')
return now[1] * 1000 + math.floor(now[2] / 1000)
