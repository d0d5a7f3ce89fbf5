-- What every subnet manager asks a new node for, one after the other, is answered: NodeInfo, NodeDescription, PortInfo of its
-- ports, SwitchInfo of a switch, P_KeyTable, GUIDInfo. SanityCheck of the CATC IBTrainer manual of 2002: 1000 ms, 3 tries.
test { id = "SMP-discovery", title = "A node is discovered", covers = { "SanityCheck" }, needs = { mads = true } }

local info = mad.get { attribute = "NodeInfo", within = "1 s", tries = 3 }.nodeinfo
mad.get { attribute = "NodeDescription" }
for port = info.nodetype == 2 and 0 or 1, info.numports do mad.get { attribute = "PortInfo", modifier = port } end
if info.nodetype == 2 then mad.get { attribute = "SwitchInfo" } end
mad.get { attribute = "P_KeyTable" }
mad.get { attribute = "GUIDInfo", status = { 0, 7 } }
