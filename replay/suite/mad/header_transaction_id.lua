-- MAD-TID: an answer carries the request's transaction ID, all bits of it. mad.md 1.4.
test { id = "MAD-transaction-id", title = "Transaction IDs", covers = { "MAD-TID" }, needs = { mads = true } }

local bits = mad.node().tid_bits
local ids = { 1, 0x80, 0x00ffffff, 0x7fffffff, 0xfffffffe }
if bits == 64 then
  for _, id in ipairs { 0x100000000, 0x7fffffffffffffff, 0x8000000000000001 } do table.insert(ids, id) end
end
for _, id in ipairs(ids) do
  sub(("0x%x"):format(id), function() mad.get { attribute = "NodeInfo", tid = id, tries = 1 } end)
end
if bits < 64 then note("the wire leaves the lower " .. bits .. " bits to the tester") end
