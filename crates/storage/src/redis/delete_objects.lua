-- Removes objects of one domain that still have their generation, and says how many went. The
-- domain is forgotten with its last object.
-- KEYS: the set of domains, the index of the domain, the objects, whose keys end in their ids.
-- ARGV: the domain, the generations.
local gone = 0
for number = 3, #KEYS do
  if redis.call('GETRANGE', KEYS[number], 2, 17) == ARGV[number - 1] then
    redis.call('UNLINK', KEYS[number])
    redis.call('ZREM', KEYS[2], string.sub(KEYS[number], -32))
    gone = gone + 1
  end
end
if redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('ZREM', KEYS[1], ARGV[1])
end
return gone
