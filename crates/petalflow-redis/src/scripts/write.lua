-- Adds writes beside a number. After the number, the arguments are the task, the name and the bytes of each write.
for i = 4, #ARGV, 3 do
    write(ARGV[2], ARGV[3], ARGV[i], ARGV[i + 1], ARGV[i + 2])
end
