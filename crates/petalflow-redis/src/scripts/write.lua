-- Adds writes beside a number. After the number, the arguments are the task, the name and the bytes of each write.
local namespace, seq = ARGV[2], ARGV[3]
for i = 4, #ARGV, 3 do
    local mark = namespace .. '\0' .. seq .. ARGV[i] .. ARGV[i + 1]
    redis.call('ZADD', marks, 0, mark)
    redis.call('HSET', values, mark, ARGV[i + 2])
end
redis.call('ZADD', namespaces, 0, namespace)
