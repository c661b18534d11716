-- Appends events to the stream of a thread.
-- KEYS: the stream. ARGV: how many events remain about, how many milliseconds the stream remains after its last event, whether
-- earlier events are removed, the events.

-- The number of the newest event. That of a new stream follows from the clock, in microseconds, so that it is greater than that
-- of a stream that has expired. It has 16 digits, which a float holds.
local number
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if newest then
    number = tonumber(string.match(newest[1], '^%d+'))
else
    local now = redis.call('TIME')
    number = tonumber(now[1]) * 1000000 + tonumber(now[2])
end
if ARGV[3] == 'remove' then
    redis.call('DEL', KEYS[1])
end
for i = 4, #ARGV do
    number = number + 1
    redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], string.format('%.0f-0', number), 'event', ARGV[i])
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
