-- P_KeyTable of port 0 of a switch and of a channel adapter: what is written is read back, membership bit and all, up to
-- PartitionCap; entries beyond it are ignored and read 0. MAD-SETECHO; mad.md 3.6.
test { id = "SMP-p-key-write", title = "P_KeyTable is written and read back", covers = { "MAD-SETECHO", "3.6" }, needs = { mads = true } }

local cap = mad.get { attribute = "NodeInfo" }.nodeinfo.partitioncap
local blocks = (cap + 31) // 32
local before = {}
for block = 0, blocks - 1 do before[block] = mad.get { attribute = "P_KeyTable", modifier = block } end

-- The first entry stays, since it may be what this test is reached by.
local function wanted(entry) return entry == 0 and before[0].p_keytable.p_key[1] or (entry % 2 << 15) | 0x1000 + entry end

sub("write and read back", function()
  for block = 0, blocks - 1 do
    local keys = {}
    for i = 1, 32 do keys[i] = wanted(32 * block + i - 1) end
    local answer = mad.set { attribute = "P_KeyTable", modifier = block, p_keytable = { p_key = keys } }
    for i = 1, 32 do
      local entry = 32 * block + i - 1
      if entry < cap then check("entry " .. entry .. " of the answer", answer.p_keytable.p_key[i], wanted(entry)) end
    end
  end
  for block = 0, blocks - 1 do
    local now = mad.get { attribute = "P_KeyTable", modifier = block }
    for i = 1, 32 do
      local entry = 32 * block + i - 1
      check("entry " .. entry, now.p_keytable.p_key[i], entry < cap and wanted(entry) or 0)
    end
  end
end)
for block = 0, blocks - 1 do mad.set { attribute = "P_KeyTable", modifier = block, data = before[block].data } end
