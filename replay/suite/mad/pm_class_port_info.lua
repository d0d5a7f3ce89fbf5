-- ClassPortInfo of class Perf: versions, and that no Set changes what can only be read. mad.md 5.1.
test { id = "PM-class-port-info", title = "ClassPortInfo of performance management", covers = { "5.1", "MAD-RONOSET" },
       needs = { mads = true, lid = true } }

local info = mad.get { class = "Perf", attribute = "ClassPortInfo" }
sub("values", function()
  check("BaseVersion", info.classportinfo.baseversion, 1)
  check("ClassVersion", info.classportinfo.classversion, 1)
  check("RespTimeValue", info.classportinfo.resptimevalue, { max = 31 })
end)
sub("set", function()
  local mask = info.classportinfo.capabilitymask
  local request = mad.send { class = "Perf", method = "Set", attribute = "ClassPortInfo", data = info.data,
                             classportinfo = { capabilitymask = mask ~ 0x0800 } }
  mad.maybe { to = request, status = any }
  check("CapabilityMask", mad.get { class = "Perf", attribute = "ClassPortInfo" }.classportinfo.capabilitymask, mask)
end)
