-- Reads what smpquery and perfquery read, so that the record of this run can be held against what they print.
test { id = "VALUES", title = "Attributes of a node, read once", needs = { mads = true } }

local node = mad.get { attribute = "NodeInfo" }
local port = node.nodeinfo.nodetype == 2 and 2 or 1
if node.nodeinfo.nodetype == 2 then mad.get { attribute = "SwitchInfo" } end
mad.get { attribute = "PortInfo", modifier = port }
mad.get { class = "Perf", attribute = "PortCounters", portcounters = { portselect = port } }
