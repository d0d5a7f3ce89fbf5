-- C14-024-09: VLArbitrationTable. Parts 1 to 4 are legal as far as VLArbitrationLowCap and HighCap reach; all others are refused
-- with status code 7. What is written is read back; VL 15 is refused. CTS class C14_024_09_CA (its title); SMP-VLARB; mad.md 3.8.
test { id = "C14-024-09", title = "VLArbitrationTable", covers = { "C14-024#09", "SMP-VLARB", "MAD-SETECHO" }, needs = { mads = true } }

local node = mad.node()
local port = node.type == "switch" and node.local_port or 0
local info = mad.get { attribute = "PortInfo", modifier = port }.portinfo
local caps = { info.vlarbitrationlowcap, info.vlarbitrationlowcap - 32, info.vlarbitrationhighcap, info.vlarbitrationhighcap - 32 }
if caps[1] == 0 then not_applicable("VLArbitrationLowCap is 0: one data VL") end
local function ask(method, part, options)
  options = options or {}
  options.attribute, options.modifier = "VLArbitrationTable", part << 16 | port
  return mad[method](options)
end

local wrong = { 0, 5, 6, 7, 8, 255, 256, 0x7fff, 0xffff }
if not sampled() then for part = 5, 0xffff, 97 do table.insert(wrong, part) end end
for _, method in ipairs { "get", "set" } do
  sub(method .. " of other parts", function()
    for _, part in ipairs(wrong) do ask(method, part, { status = 7 }) end
  end)
end

local before = {}
for part = 1, 4 do
  if caps[part] > 0 then before[part] = ask("get", part).data end
end
local function entries(part)
  local vls, weights = {}, {}
  for i = 1, 32 do vls[i], weights[i] = i % 2, i <= caps[part] and (16 * part + i) % 256 or 0 end
  return vls, weights
end
sub("write and read back", function()
  for part in pairs(before) do
    local vls, weights = entries(part)
    ask("set", part, { vlarbitrationtable = { vl = vls, weight = weights } })
  end
  for part in pairs(before) do
    local now, vls, weights = ask("get", part).vlarbitrationtable, entries(part)
    for i = 1, math.min(32, caps[part]) do
      check(("part %d, weight of entry %d"):format(part, i), now.weight[i], weights[i])
      check(("part %d, VL of entry %d"):format(part, i), now.vl[i], vls[i])
    end
  end
end)
sub("VL 15", function() ask("set", 1, { data = before[1], vlarbitrationtable = { vl = { 15 } }, status = 7 }) end)
for part, data in pairs(before) do ask("set", part, { data = data }) end
