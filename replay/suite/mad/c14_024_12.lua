-- C14-024-12: MulticastForwardingTable. Blocks below MulticastFDBCap are written and read back at every position that ports
-- have; blocks beyond it are refused with status code 7. CTS class C14_024_12 (its title); mad.md 3.9.
test { id = "C14-024-12", title = "MulticastForwardingTable", covers = { "C14-024#12", "MAD-BADVALUE", "MAD-SETECHO" }, needs = { mads = "switch" } }

local cap = mad.get { attribute = "SwitchInfo" }.switchinfo.multicastfdbcap
local ports = mad.node().ports
local blocks, positions = (cap + 31) // 32, ports // 16 + 1
local function ask(method, block, position, options)
  options = options or {}
  options.attribute, options.modifier = "MulticastForwardingTable", position << 28 | block
  return mad[method](options)
end

sub("blocks beyond MulticastFDBCap", function()
  for _, block in ipairs { blocks, 511 } do
    local answer = ask("get", block, 0, { status = any })
    if cap == 0 then assert(answer.status ~= 0, "answered with success") else check("status code of block " .. block, answer.status, 7) end
  end
end)
if cap > 0 then
  local block = blocks - 1  -- the last one is the least used
  local before = {}
  for position = 0, positions - 1 do before[position] = ask("get", block, position).data end
  sub("write and read back", function()
    local function mask(position, i) return (position == 0 and 0x0002 or 0x0001) << (i % 2) end
    for position = 0, positions - 1 do
      local masks = {}
      for i = 1, 32 do masks[i] = mask(position, i) end
      ask("set", block, position, { multicastforwardingtable = { portmask = masks } })
    end
    for position = 0, positions - 1 do
      local now = ask("get", block, position).multicastforwardingtable.portmask
      for i = 1, 32 do check(("position %d, MLID 0x%04x"):format(position, 0xc000 + 32 * block + i - 1), now[i], mask(position, i)) end
    end
  end)
  for position, data in pairs(before) do ask("set", block, position, { data = data }) end
end
