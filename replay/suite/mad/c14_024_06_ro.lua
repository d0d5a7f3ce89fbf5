-- C14-024-06: components of PortInfo that can only be read stay as they are, whatever a Set says of them.
-- CTS classes C14_024_06_CA_01/02 and _SW_01 (named); MAD-RONOSET; mad.md 3.5.
test { id = "C14-024-06-RO", title = "PortInfo: what can only be read", covers = { "C14-024#06", "MAD-RONOSET" }, needs = { mads = true } }

local before = mad.get { attribute = "PortInfo" }
local p = before.portinfo
local others = { capabilitymask = p.capabilitymask ~ 0x0000ff00, diagcode = p.diagcode ~ 1, linkwidthsupported = p.linkwidthsupported ~ 0xff,
                 linkspeedsupported = p.linkspeedsupported ~ 0xf, vlcap = p.vlcap ~ 0xf, mtucap = p.mtucap ~ 0xf,
                 guidcap = p.guidcap ~ 0xff, resptimevalue = p.resptimevalue ~ 0x1f,
                 vlarbitrationhighcap = p.vlarbitrationhighcap ~ 0xff, vlarbitrationlowcap = p.vlarbitrationlowcap ~ 0xff }
-- 0 changes nothing in these.
local function same_state() return { portstate = 0, portphysicalstate = 0, linkdowndefaultstate = 0 } end

for _, name in ipairs { "capabilitymask", "diagcode", "linkwidthsupported", "linkspeedsupported", "vlcap", "mtucap", "guidcap",
                        "resptimevalue", "vlarbitrationhighcap", "vlarbitrationlowcap" } do
  sub(name, function()
    local fields = same_state()
    fields[name] = others[name]
    mad.set { attribute = "PortInfo", data = before.data, portinfo = fields, status = { 0, 7 } }
    check(name, mad.get { attribute = "PortInfo" }.portinfo[name], p[name])
  end)
end
