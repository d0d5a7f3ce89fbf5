-- C14-016-Set: a Set with a wrong M_Key is dropped with every M_KeyProtectBits, and changes nothing; one with the right M_Key is
-- executed. CTS class C14_016_Set; SMP-MKEY; mad.md 9.4.
test { id = "C14-016-Set", title = "M_Key of a Set", covers = { "C14-016", "SMP-MKEY" }, needs = { mads = true } }

local right, other = 0x0123456789abcdef, 0xfedcba9876543210
local before = mad.get { attribute = "PortInfo" }
if before.portinfo.m_key ~= 0 then not_applicable("the port has an M_Key already: a subnet manager uses it") end
local function set(fields, key)
  fields.portstate, fields.portphysicalstate = 0, 0
  return mad.set { attribute = "PortInfo", data = before.data, portinfo = fields, m_key = key }
end
local function info(key) return mad.get { attribute = "PortInfo", m_key = key }.portinfo end
-- A lease ends by itself if this test does not come to its end.
local lease = 60

for protect = 0, 3 do
  sub("M_KeyProtectBits " .. protect, function()
    set({ m_key = right, m_keyprotectbits = protect, m_keyleaseperiod = lease }, 0)
    local sm = before.portinfo.mastersmlid
    mad.send { attribute = "PortInfo", method = "Set", data = before.data, m_key = other,
               portinfo = { portstate = 0, portphysicalstate = 0, mastersmlid = sm ~ 0x40, m_key = right,
                            m_keyprotectbits = protect, m_keyleaseperiod = lease } }
    mad.expect_no_answer { within = "200 ms" }
    check("MasterSMLID", info(right).mastersmlid, sm)
    set({ m_key = right, m_keyprotectbits = protect, m_keyleaseperiod = lease, mastersmlid = sm ~ 0x40 }, right)
    check("MasterSMLID, set with the right M_Key", info(right).mastersmlid, sm ~ 0x40)
  end)
  mad.set { attribute = "PortInfo", data = before.data, portinfo = { portstate = 0, portphysicalstate = 0 }, m_key = right }
end
