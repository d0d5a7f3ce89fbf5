-- C14-024-06: a Set of PortInfo with an illegal value is refused with status code 7, and nothing of it is stored.
-- CTS classes C14_024_06_CA_03 and _SW_02 (their title); MAD-BADVALUE, SMP-PORTSTATE; mad.md 3.5, 9.
test { id = "C14-024-06-illegal", title = "PortInfo: illegal values", covers = { "C14-024#06", "MAD-BADVALUE", "SMP-PORTSTATE" },
       needs = { mads = true } }

local node = mad.node()
local port = node.type == "switch" and node.local_port or 0
local before = mad.get { attribute = "PortInfo", modifier = port }
local p = before.portinfo

local function refused(name, fields)
  sub(name, function()
    local set = { portstate = 0, portphysicalstate = 0, linkdowndefaultstate = 0 }
    for field, value in pairs(fields) do set[field] = value end
    mad.set { attribute = "PortInfo", modifier = port, data = before.data, portinfo = set, status = 7 }
    local now = mad.get { attribute = "PortInfo", modifier = port }.portinfo
    for field in pairs(fields) do check(field, now[field], p[field]) end
  end)
  -- What was stored all the same must not stay.
  local now = mad.get { attribute = "PortInfo", modifier = port }
  if now.data ~= before.data then
    mad.set { attribute = "PortInfo", modifier = port, data = before.data, status = any,
              portinfo = { portstate = now.portinfo.portstate ~= p.portstate and p.portstate or 0, portphysicalstate = 0 } }
  end
end
refused("PortState Initialize", { portstate = 2 })
for _, state in ipairs { 5, 9, 15 } do refused("PortState " .. state, { portstate = state }) end
for mtu = p.mtucap + 1, 15, 3 do refused("NeighborMTU " .. mtu, { neighbormtu = mtu }) end
for vls = p.vlcap + 1, 15, 3 do refused("OperationalVLs " .. vls, { operationalvls = vls }) end
for _, width in ipairs { 8, 4, 2, 1 } do
  if p.linkwidthsupported & width == 0 then refused("LinkWidthEnabled " .. width, { linkwidthenabled = width }) end
end
refused("PortPhysicalState LinkUp", { portphysicalstate = 5 })
