-- C14-024-03: NodeInfo. Its values make sense, are the same each time and whichever way they are asked for, and no Set
-- changes them. CTS class C14_024_03 (its title; the steps were not public); mad.md 3.2.
test { id = "C14-024-03", title = "NodeInfo", covers = { "C14-024#03" }, needs = { mads = true } }

local info = mad.get { attribute = "NodeInfo" }

sub("values", function()
  check("BaseVersion", info.nodeinfo.baseversion, 1)
  check("ClassVersion", info.nodeinfo.classversion, 1)
  check("NodeType", info.nodeinfo.nodetype, { 1, 2, 3 })
  check("NumPorts", info.nodeinfo.numports, { min = 1, max = 254 })
  check("PartitionCap", info.nodeinfo.partitioncap, { min = 1 })
  assert(info.nodeinfo.nodeguid ~= 0, "NodeGUID is 0")
  assert(info.nodeinfo.portguid ~= 0, "PortGUID is 0")
end)

sub("reserved bytes", function()
  assert(info.data:sub(41) == ("\0"):rep(24), "bytes behind NodeInfo are not 0")
end)

sub("again", function()
  assert(mad.get { attribute = "NodeInfo" }.data == info.data, "NodeInfo has changed")
end)

sub("PortGUID is the first GUID of the port", function()
  local guids = mad.get { attribute = "GUIDInfo" }.guidinfo.guid
  check("GUID 0", guids[1], info.nodeinfo.portguid)
end)

sub("LocalPortNum is where the SMP arrives", function()
  if info.mad.hopcount == 0 then skip("not a directed route of at least one hop") end
  local answer = mad.get { attribute = "NodeInfo", class = "SubnDirectedRoute" }
  check("LocalPortNum", answer.nodeinfo.localportnum, answer.smppaths.returnpath:byte(answer.mad.hopcount + 1))
end)

sub("LID routed", function()
  if mad.node().lid == 0 then skip("the device has no LID") end
  local routed = mad.get { class = "SubnLID", attribute = "NodeInfo" }
  check("NodeGUID", routed.nodeinfo.nodeguid, info.nodeinfo.nodeguid)
  check("NumPorts", routed.nodeinfo.numports, info.nodeinfo.numports)
  check("NodeType", routed.nodeinfo.nodetype, info.nodeinfo.nodetype)
end)
