-- C14-017-01: after a violation the lease timer runs; when it has counted M_KeyLeasePeriod to 0, M_KeyProtectBits is 0, and
-- everybody may read the M_Key. CTS class C14_017_01; SMP-LEASE; mad.md 9.3.
test { id = "C14-017-01", title = "The lease timer counts to zero", covers = { "C14-017#01", "SMP-LEASE" }, needs = { mads = true } }

local right, other = 0x0123456789abcdef, 0xfedcba9876543210
local before = mad.get { attribute = "PortInfo" }
if before.portinfo.m_key ~= 0 then not_applicable("the port has an M_Key already: a subnet manager uses it") end
local function set(fields, key)
  fields.portstate, fields.portphysicalstate = 0, 0
  return mad.set { attribute = "PortInfo", data = before.data, portinfo = fields, m_key = key }
end
local function info(key) return mad.get { attribute = "PortInfo", m_key = key }.portinfo end

local period = 2
sub("lease of " .. period .. " s", function()
  set({ m_key = right, m_keyprotectbits = 2, m_keyleaseperiod = period, m_keyviolations = 0 }, 0)
  mad.send { attribute = "PortInfo", m_key = other }
  mad.expect_no_answer { within = "200 ms" }
  wait((period - 1) * 1000 - 200)
  -- A violation meanwhile does not start it anew.
  mad.send { attribute = "PortInfo", m_key = other }
  mad.expect_no_answer { within = "200 ms" }
  wait(1300)
  local now = info(other)
  check("M_KeyProtectBits", now.m_keyprotectbits, 0)
  check("M_Key", now.m_key, right)
  check("M_KeyViolations", now.m_keyviolations, 2)
end)
mad.set { attribute = "PortInfo", data = before.data, m_key = right,
          portinfo = { portstate = 0, portphysicalstate = 0, m_keyviolations = 0 } }
