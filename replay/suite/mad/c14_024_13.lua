-- C14-024-13: SMInfo is answered where a subnet manager runs (IsSM 1), and refused elsewhere. CTS classes C14_024_13_1 and _3
-- (their titles); SMP-SMINFO; mad.md 3.10.
test { id = "C14-024-13", title = "SMInfo", covers = { "C14-024#13", "SMP-SMINFO" }, needs = { mads = true } }

local port = mad.get { attribute = "PortInfo" }.portinfo
local node = mad.get { attribute = "NodeInfo" }.nodeinfo
if port["capabilitymask.issm"] == 1 then
  sub("IsSM 1", function()
    local first = mad.get { attribute = "SMInfo" }.sminfo
    check("GUID", first.guid, node.portguid)
    check("SMState", first.smstate, { min = 0, max = 3 })
    check("SM_Key, which only who is trusted is told", first.sm_key, 0)
    local second = mad.get { attribute = "SMInfo" }.sminfo
    check("ActCount goes on", (second.actcount - first.actcount) & 0xffffffff, { max = 0x7fffffff })
  end)
else
  for _, method in ipairs { "Get", "Set" } do
    sub("IsSM 0, " .. method, function()
      local answer = mad.maybe { to = mad.send { attribute = "SMInfo", method = method, modifier = method == "Set" and 5 or 0 }, status = any }
      assert(not answer or answer.status ~= 0, "answered with success although IsSM is 0")
    end)
  end
end
