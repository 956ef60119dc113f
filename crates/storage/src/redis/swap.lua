-- Sets a ref if it is as expected, else tells what it is. A won swap is answered with 1.
-- KEYS: the ref, the index of refs. ARGV: '' if none is expected, else '=' and the token;
-- the new token; the new value; the name of the ref.
local current = redis.call('GET', KEYS[1])
local found = current and '=' .. string.sub(current, 1, 16) or ''
if found ~= ARGV[1] then
  return current
end
redis.call('ZADD', KEYS[2], 0, ARGV[4])
redis.call('SET', KEYS[1], ARGV[2] .. ARGV[3])
return 1
