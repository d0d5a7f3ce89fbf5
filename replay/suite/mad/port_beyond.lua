-- MAD-BADVALUE: attributes of ports that the device does not have are refused with status code 7. Such requests may crash a
-- device: they are sent with --destructive only. mad.md 9.2, 10.5.
test { id = "SMP-port-beyond", title = "Ports above NumPorts", covers = { "MAD-BADVALUE", "PM-PORTSEL" }, needs = { mads = true } }

local node = mad.node()
for _, port in ipairs { node.ports + 1, 254 } do
  sub("PortInfo of port " .. port, function() mad.get { attribute = "PortInfo", modifier = port, status = 7 } end)
  sub("SLtoVLMappingTable to port " .. port, function()
    mad.get { attribute = "SLtoVLMappingTable", modifier = port, status = { 3, 7 } }
  end)
  sub("PortCounters of port " .. port, function()
    if node.lid == 0 then skip("the device has no LID") end
    local answer = mad.get { class = "Perf", attribute = "PortCounters", portcounters = { portselect = port }, status = any }
    assert(answer.status ~= 0, "answered with success")
  end)
end
