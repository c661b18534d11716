-- Returns how many threads of a shard were deleted.
return deleted_threads() or damaged('the key `' .. deleted .. '` is not a number')
