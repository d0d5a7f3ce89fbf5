-- SMP-PORTSTATE: a port goes from Initialize to Armed to Active, one step at a time; a Set to Active of a port in Initialize
-- is refused with status code 7. mad.md 3.5, 9.3.
test { id = "SMP-port-state", title = "PortState goes one step at a time", covers = { "SMP-PORTSTATE" }, needs = { mads = "switch" } }

local found
for port = 1, mad.node().ports do
  local info = mad.get { attribute = "PortInfo", modifier = port }
  if info.portinfo.portstate == 2 then
    found = port
    break
  end
end
if not found then not_applicable("no port is in Initialize") end

local function set_state(state, status)
  local info = mad.get { attribute = "PortInfo", modifier = found }
  mad.set { attribute = "PortInfo", modifier = found, data = info.data, status = status,
            portinfo = { portstate = state, portphysicalstate = 0 } }
  return mad.get { attribute = "PortInfo", modifier = found }.portinfo.portstate
end
check("PortState after a Set to Active", set_state(4, 7), 2)
check("PortState after a Set to Armed", set_state(3, 0), 3)
