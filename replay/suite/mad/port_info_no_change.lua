-- PortInfo: 0 in LinkWidthEnabled changes nothing; ClientReregister reads 0. mad.md 3.5.
test { id = "SMP-port-info-no-change", title = "Values of PortInfo that change nothing", covers = { "3.5" }, needs = { mads = true } }

local node = mad.node()
local port = node.type == "switch" and node.local_port or 0
local before = mad.get { attribute = "PortInfo", modifier = port }
local function set(fields)
  fields.portstate, fields.portphysicalstate = 0, 0
  mad.set { attribute = "PortInfo", modifier = port, data = before.data, portinfo = fields }
  return mad.get { attribute = "PortInfo", modifier = port }.portinfo
end
sub("LinkWidthEnabled 0", function()
  local now = set { linkwidthenabled = 0 }
  set { linkwidthenabled = before.portinfo.linkwidthenabled }
  check("LinkWidthEnabled", now.linkwidthenabled, before.portinfo.linkwidthenabled)
end)
sub("ClientReregister", function()
  if before.portinfo["capabilitymask.clientregistrationsupported"] ~= 1 then skip("IsClientReregistrationSupported is 0") end
  check("ClientReregister", set { clientreregister = 1 }.clientreregister, 0)
end)
sub("PortState 0", function() check("PortState", set({}).portstate, before.portinfo.portstate) end)
