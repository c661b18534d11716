-- Adds writes beside a number. After the number, the arguments are the task, the name and the bytes of each write.
local owner, namespace, seq = ARGV[2], ARGV[3], ARGV[4]
local lost = claim_lost(claim, owner)
if lost then
    return lost
end
for i = 5, #ARGV, 3 do
    write(namespace, seq, ARGV[i], ARGV[i + 1], ARGV[i + 2])
end
