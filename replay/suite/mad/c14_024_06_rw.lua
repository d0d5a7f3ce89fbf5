-- C14-024-06: components of PortInfo that can be written are read back, and the answer to the Set has the values now in
-- force: those that cannot be changed as they are. CTS classes C14_024_06_CA_01/02 and _SW_01 (named); MAD-SETECHO; mad.md 3.5.
test { id = "C14-024-06-RW", title = "PortInfo: what can be written", covers = { "C14-024#06", "MAD-SETECHO" }, needs = { mads = true } }

local before = mad.get { attribute = "PortInfo" }
local p = before.portinfo
local wanted = { mastersmlid = p.mastersmlid ~ 0x10, mastersmsl = p.mastersmsl ~ 1, subnettimeout = p.subnettimeout ~ 1,
                 localphyerrors = p.localphyerrors ~ 1, overrunerrors = p.overrunerrors ~ 1, m_keyleaseperiod = p.m_keyleaseperiod ~ 1 }

for _, name in ipairs { "mastersmlid", "mastersmsl", "subnettimeout", "localphyerrors", "overrunerrors", "m_keyleaseperiod" } do
  sub(name, function()
    local answer = mad.set { attribute = "PortInfo", data = before.data,
                             portinfo = { portstate = 0, portphysicalstate = 0, [name] = wanted[name], capabilitymask = 0 } }
    check(name .. " in the answer", answer.portinfo[name], wanted[name])
    check("CapabilityMask in the answer", answer.portinfo.capabilitymask, p.capabilitymask)
    check(name, mad.get { attribute = "PortInfo" }.portinfo[name], wanted[name])
  end)
end
mad.set { attribute = "PortInfo", data = before.data, portinfo = { portstate = 0, portphysicalstate = 0 } }
