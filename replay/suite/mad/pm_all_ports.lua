-- PortSelect 255 means all ports where CapabilityMask says AllPortSelect: the sum of their counters. mad.md section 5, 5.1.
test { id = "PM-all-ports", title = "PortCounters of all ports", covers = { "5" }, needs = { mads = true, lid = true } }

local mask = mad.get { class = "Perf", attribute = "ClassPortInfo" }.classportinfo.capabilitymask
if mask & 0x0100 == 0 then not_applicable("AllPortSelect is 0") end
local all = mad.get { class = "Perf", attribute = "PortCounters", portcounters = { portselect = 255 } }
check("PortSelect", all.portcounters.portselect, 255)
local port = mad.node().type == "switch" and mad.node().local_port or 1
local one = mad.get { class = "Perf", attribute = "PortCounters", portcounters = { portselect = port } }
check("PortRcvPkts of all ports", all.portcounters.portrcvpkts, { min = one.portcounters.portrcvpkts - 1 })
