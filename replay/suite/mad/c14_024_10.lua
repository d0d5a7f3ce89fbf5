-- C14-024-10: LinearForwardingTable. LinearFDBCap 0: every block is refused; else blocks below it are written and read back,
-- and blocks beyond it are refused with status code 7. CTS classes C14_024_10_01, _02, _03 (their titles); mad.md 3.9.
-- A port above NumPorts may be kept or read as 255, so none is written here.
test { id = "C14-024-10", title = "LinearForwardingTable", covers = { "C14-024#10", "MAD-BADVALUE", "MAD-SETECHO" }, needs = { mads = "switch" } }

local cap = mad.get { attribute = "SwitchInfo" }.switchinfo.linearfdbcap
local ports = mad.node().ports
local blocks = (cap + 63) // 64
local function get(block, status) return mad.get { attribute = "LinearForwardingTable", modifier = block, status = status } end

sub("blocks beyond LinearFDBCap", function()
  for _, block in ipairs { blocks, blocks + 1, 767, 768, 0xffff } do
    if block >= blocks then
      if cap == 0 then
        assert(get(block, any).status ~= 0, "block " .. block .. " is answered with success although LinearFDBCap is 0")
      else
        get(block, 7)
      end
    end
  end
end)

-- Blocks that hold no LID of this fabric would be best, but nobody knows them: each is written back.
local chosen = {}
for block = 1, blocks - 1, sampled() and math.max(1, blocks // 4) or 1 do table.insert(chosen, block) end
if cap > 0 then
  local before = {}
  for _, block in ipairs(chosen) do before[block] = get(block).data end
  sub("write and read back", function()
    local function entry(block, i) return (block + i) % ports + 1 end
    for _, block in ipairs(chosen) do
      local out = {}
      for i = 1, 64 do out[i] = entry(block, i) end
      mad.set { attribute = "LinearForwardingTable", modifier = block, linearforwardingtable = { port = out } }
    end
    for _, block in ipairs(chosen) do
      local now = get(block).linearforwardingtable.port
      for i = 1, 64 do
        if now[i] ~= entry(block, i) then fail(("LID %d: expected port %d, got %d"):format(64 * block + i - 1, entry(block, i), now[i])) end
      end
    end
  end)
  for block, data in pairs(before) do mad.set { attribute = "LinearForwardingTable", modifier = block, data = data } end
end
