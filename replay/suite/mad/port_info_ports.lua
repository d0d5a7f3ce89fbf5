-- PortInfo by port: that of the port the modifier names, LocalPortNum the one the SMP arrived at; port 0 of a channel adapter
-- is the arrival port. mad.md section 3, 3.5.
test { id = "SMP-port-info-ports", title = "PortInfo of every port", covers = { "3.5" }, needs = { mads = true } }

local node = mad.node()
sub("port 0", function() check("LocalPortNum", mad.get { attribute = "PortInfo" }.portinfo.localportnum, node.local_port) end)
for port = 1, node.ports do
  sub("port " .. port, function()
    local info = mad.get { attribute = "PortInfo", modifier = port }.portinfo
    check("LocalPortNum", info.localportnum, node.local_port)
    check("PortState", info.portstate, { min = 1, max = 4 })
    check("MTUCap", info.mtucap, { min = 1, max = 5 })
    check("VLCap", info.vlcap, { min = 1, max = 5 })
    if port == node.local_port then check("PortState of the port that SMPs arrive at", info.portstate, { min = 2, max = 4 }) end
    -- Only a port whose link is up has a state beyond Down.
    if info.portstate > 1 then check("PortPhysicalState", info.portphysicalstate, { 5, 6 }) end
  end)
end
sub("they differ", function()
  if node.ports == 1 then skip("there is one port") end
  -- What is set at one port is not set at another.
  local a, b = node.local_port, node.local_port == 1 and 2 or 1
  if node.type ~= "switch" then skip("only the arrival port can be set") end
  local before, other = mad.get { attribute = "PortInfo", modifier = a }, mad.get { attribute = "PortInfo", modifier = b }
  local life = before.portinfo.hoqlife ~ 1
  local function set(value)
    mad.set { attribute = "PortInfo", modifier = a, data = before.data,
              portinfo = { portstate = 0, portphysicalstate = 0, hoqlife = value } }
  end
  set(life)
  local now = mad.get { attribute = "PortInfo", modifier = b }.portinfo
  set(before.portinfo.hoqlife)
  check("HOQLife of port " .. b, now.hoqlife, other.portinfo.hoqlife)
end)
