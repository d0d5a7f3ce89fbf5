-- C14-017-05: with M_KeyLeasePeriod 0 the lease never ends. CTS class C14_017_05 waits for hours; here it is 20 s, which is all
-- that can be said of never. SMP-LEASE; mad.md 9.3.
test { id = "C14-017-05", title = "Lease period 0 never ends", covers = { "C14-017#05", "SMP-LEASE" }, needs = { mads = true } }

local right, other = 0x0123456789abcdef, 0xfedcba9876543210
local before = mad.get { attribute = "PortInfo" }
if before.portinfo.m_key ~= 0 then not_applicable("the port has an M_Key already: a subnet manager uses it") end
local function set(fields, key)
  fields.portstate, fields.portphysicalstate = 0, 0
  return mad.set { attribute = "PortInfo", data = before.data, portinfo = fields, m_key = key }
end
local function info(key) return mad.get { attribute = "PortInfo", m_key = key }.portinfo end

sub("20 s", function()
  set({ m_key = right, m_keyprotectbits = 2, m_keyleaseperiod = 0 }, 0)
  mad.send { attribute = "PortInfo", m_key = other }
  mad.expect_no_answer { within = "200 ms" }
  wait("20 s")
  mad.send { attribute = "NodeInfo", m_key = other }
  mad.expect_no_answer { within = "200 ms" }
  check("M_KeyProtectBits", info(right).m_keyprotectbits, 2)
end)
mad.set { attribute = "PortInfo", data = before.data, portinfo = { portstate = 0, portphysicalstate = 0 }, m_key = right }
