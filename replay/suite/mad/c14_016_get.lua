-- C14-016-Get: a Get with a wrong M_Key is answered with M_KeyProtectBits 0 and 1, with 1 without telling the M_Key, and dropped
-- with 2 and 3. The right one is always answered. CTS class C14_016_Get; SMP-MKEY; mad.md 9.4.
test { id = "C14-016-Get", title = "M_Key of a Get", covers = { "C14-016", "SMP-MKEY" }, needs = { mads = true } }

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
    check("M_Key, asked with it", info(right).m_key, right)
    if protect <= 1 then
      check("M_Key, asked with another", info(other).m_key, protect == 0 and right or 0)
      mad.get { attribute = "NodeInfo", m_key = other }
    else
      mad.send { attribute = "PortInfo", m_key = other }
      mad.expect_no_answer { within = "200 ms" }
      mad.send { attribute = "NodeInfo", m_key = other }
      mad.expect_no_answer { within = "200 ms" }
    end
    mad.get { attribute = "NodeInfo", m_key = right }
  end)
  mad.set { attribute = "PortInfo", data = before.data, portinfo = { portstate = 0, portphysicalstate = 0 }, m_key = right }
end
