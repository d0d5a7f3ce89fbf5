-- C14-017-03: a MAD with the right M_Key stops the lease timer: M_KeyProtectBits stays. CTS class C14_017_03; SMP-LEASE; mad.md 9.3.
test { id = "C14-017-03", title = "The right M_Key stops the lease timer", covers = { "C14-017#03", "SMP-LEASE" }, needs = { mads = true } }

local right, other = 0x0123456789abcdef, 0xfedcba9876543210
local before = mad.get { attribute = "PortInfo" }
if before.portinfo.m_key ~= 0 then not_applicable("the port has an M_Key already: a subnet manager uses it") end
local function set(fields, key)
  fields.portstate, fields.portphysicalstate = 0, 0
  return mad.set { attribute = "PortInfo", data = before.data, portinfo = fields, m_key = key }
end
local function info(key) return mad.get { attribute = "PortInfo", m_key = key }.portinfo end

local period = 2
for protect = 2, 3 do
  sub("M_KeyProtectBits " .. protect, function()
    set({ m_key = right, m_keyprotectbits = protect, m_keyleaseperiod = period }, 0)
    mad.send { attribute = "PortInfo", m_key = other }
    mad.expect_no_answer { within = "200 ms" }
    wait(period * 500)
    mad.get { attribute = "NodeInfo", m_key = right }
    wait(period * 1000)
    check("M_KeyProtectBits", info(right).m_keyprotectbits, protect)
    mad.send { attribute = "NodeInfo", m_key = other }
    mad.expect_no_answer { within = "200 ms" }
  end)
  mad.set { attribute = "PortInfo", data = before.data, portinfo = { portstate = 0, portphysicalstate = 0 }, m_key = right }
end
