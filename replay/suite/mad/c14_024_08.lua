-- C14-024-08: SLtoVLMappingTable. IsSLMappingSupported decides: where it is 0, every request is refused; else tables are
-- written and read back, each for itself. CTS classes C14_024_08_01, _02 (CA), _04 (switch); mad.md 3.7.
test { id = "C14-024-08", title = "SLtoVLMappingTable", covers = { "C14-024#08", "MAD-SETECHO" }, needs = { mads = true } }

local node = mad.node()
local supported = mad.get { attribute = "PortInfo" }.portinfo["capabilitymask.slmappingsupported"] == 1
-- Of a channel adapter the one table of the arrival port; of a switch from one input port to each external port.
local tables = { 0 }
if node.type == "switch" then
  tables = {}
  for out = 1, node.ports do table.insert(tables, node.local_port << 8 | out) end
end

if not supported then
  for _, modifier in ipairs(tables) do
    sub(("unsupported, 0x%04x"):format(modifier), function()
      local answer = mad.get { attribute = "SLtoVLMappingTable", modifier = modifier, status = any }
      assert(answer.status ~= 0, "answered with success although IsSLMappingSupported is 0")
    end)
  end
else
  local before = {}
  for i, modifier in ipairs(tables) do before[i] = mad.get { attribute = "SLtoVLMappingTable", modifier = modifier }.data end
  sub("write and read back", function()
    local function levels(i)
      local out = {}
      for sl = 0, 15 do out[sl + 1] = (sl + i) % 2 end  -- VL 0 and 1
      return out
    end
    for i, modifier in ipairs(tables) do
      mad.set { attribute = "SLtoVLMappingTable", modifier = modifier, sltovlmappingtable = { sltovl = levels(i) } }
    end
    for i, modifier in ipairs(tables) do
      local now = mad.get { attribute = "SLtoVLMappingTable", modifier = modifier }.sltovlmappingtable.sltovl
      for sl = 0, 15 do check(("table 0x%04x, SL %d"):format(modifier, sl), now[sl + 1], levels(i)[sl + 1]) end
    end
  end)
  for i, modifier in ipairs(tables) do mad.set { attribute = "SLtoVLMappingTable", modifier = modifier, data = before[i] } end
end
