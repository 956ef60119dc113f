-- Removes a ref if it still has its token, and says whether it did.
-- KEYS: the ref, the index of refs. ARGV: the token, the name of the ref.
if redis.call('GETRANGE', KEYS[1], 0, 15) ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[2])
return 1
