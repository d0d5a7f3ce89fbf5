-- SMP-VIOL: M_KeyViolations grows by one with every MAD that fails the check, stays at 0xffff, and is cleared by writing 0; no
-- other value can be written. mad.md 3.5, 9.3.
test { id = "SMP-m-key-violations", title = "M_KeyViolations", covers = { "SMP-VIOL" }, needs = { mads = true } }

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

local function violate(times)
  for _ = 1, times do
    mad.send { attribute = "PortInfo", method = "Set", data = before.data, m_key = other,
               portinfo = { portstate = 0, portphysicalstate = 0 } }
    mad.expect_no_answer { within = "20 ms" }
  end
end
local function guard(fields, key)
  fields.m_key, fields.m_keyprotectbits, fields.m_keyleaseperiod = right, 1, lease
  set(fields, key)
end
guard({ m_keyviolations = 0 }, 0)

sub("counted", function()
  check("M_KeyViolations at first", info(right).m_keyviolations, 0)
  violate(1)
  check("M_KeyViolations", info(right).m_keyviolations, 1)
  violate(4)
  check("M_KeyViolations", info(right).m_keyviolations, 5)
  info(other)  -- answered with M_KeyProtectBits 1: no violation
  check("M_KeyViolations", info(right).m_keyviolations, 5)
end)
sub("only cleared", function()
  guard({ m_keyviolations = 0x1234 }, right)
  local now = info(right).m_keyviolations
  assert(now ~= 0x1234, "M_KeyViolations was set to 0x1234")
  guard({ m_keyviolations = 0 }, right)
  check("M_KeyViolations, cleared", info(right).m_keyviolations, 0)
end)
sub("stays at the highest", function()
  if not mad.node().on_link then skip("65537 violations would take an hour: how many have arrived, only answers tell") end
  guard({ m_keyviolations = 0 }, right)
  local times = sampled() and 0x101 or 0x10001
  mad.send { attribute = "PortInfo", method = "Set", m_key = other, count = times }
  mad.expect_no_answer { within = "20 ms" }
  check("M_KeyViolations", info(right).m_keyviolations, math.min(times, 0xffff))
  if sampled() then note("sampled: " .. times .. " violations of 65537, so that the highest was not reached") end
end)
mad.set { attribute = "PortInfo", data = before.data, m_key = right,
          portinfo = { portstate = 0, portphysicalstate = 0, m_keyviolations = 0 } }
