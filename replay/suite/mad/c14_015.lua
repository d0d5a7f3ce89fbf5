-- C14-015: a port whose M_Key is 0 checks none: every M_Key is as good, whatever M_KeyProtectBits says, and no violation is
-- counted. CTS class C14_015; SMP-MKEY; mad.md 9.4.
test { id = "C14-015", title = "M_Key 0: no check", covers = { "C14-015", "SMP-MKEY" }, needs = { mads = true } }

local before = mad.get { attribute = "PortInfo" }
if before.portinfo.m_key ~= 0 then not_applicable("the port has an M_Key") end
local function set(fields, options)
  fields.portstate, fields.portphysicalstate = 0, 0
  options = options or {}
  options.attribute, options.data, options.portinfo = "PortInfo", before.data, fields
  return mad.set(options)
end

for protect = 0, 3 do
  sub("M_KeyProtectBits " .. protect, function()
    set { m_keyprotectbits = protect, m_keyviolations = 0 }
    mad.get { attribute = "NodeInfo", m_key = 0x1122334455667788 }
    mad.get { attribute = "PortInfo", m_key = 0x1122334455667788 }
    set({ m_keyprotectbits = protect }, { m_key = 0x1122334455667788 })
    check("M_KeyViolations", mad.get { attribute = "PortInfo" }.portinfo.m_keyviolations, 0)
  end)
end
set { m_keyprotectbits = before.portinfo.m_keyprotectbits }
