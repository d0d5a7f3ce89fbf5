-- SwitchInfo: what can only be read stays as it is; what can be written is read back; LinearFDBTop at or beyond LinearFDBCap is
-- refused; PortStateChange is cleared by writing 1. MAD-RONOSET, MAD-SETECHO, MAD-BADVALUE; mad.md 3.3.
test { id = "SMP-switch-info", title = "SwitchInfo", covers = { "3.3", "MAD-RONOSET", "MAD-SETECHO", "MAD-BADVALUE" }, needs = { mads = "switch" } }

local before = mad.get { attribute = "SwitchInfo" }
local s = before.switchinfo
local function set(fields, status)
  mad.set { attribute = "SwitchInfo", data = before.data, switchinfo = fields, status = status }
  return mad.get { attribute = "SwitchInfo" }.switchinfo
end

for _, name in ipairs { "linearfdbcap", "randomfdbcap", "multicastfdbcap", "lidsperport", "partitionenforcementcap" } do
  sub(name .. " can only be read", function() check(name, set({ [name] = s[name] ~ 0x40, portstatechange = 0 }, { 0, 7 })[name], s[name]) end)
end
sub("LifeTimeValue", function() check("LifeTimeValue", set({ lifetimevalue = s.lifetimevalue ~ 1, portstatechange = 0 }).lifetimevalue, s.lifetimevalue ~ 1) end)
sub("LinearFDBTop", function()
  if s.linearfdbcap == 0 then skip("LinearFDBCap is 0") end
  local top = math.min(s.linearfdbcap - 1, s.linearfdbtop + 1)
  check("LinearFDBTop", set({ linearfdbtop = top, portstatechange = 0 }).linearfdbtop, top)
end)
sub("LinearFDBTop beyond LinearFDBCap", function()
  if s.linearfdbcap == 0 then skip("LinearFDBCap is 0") end
  for _, top in ipairs { s.linearfdbcap, 0xbfff } do
    if top >= s.linearfdbcap and top <= 0xffff then
      local now = set({ linearfdbtop = top, portstatechange = 0 }, any).linearfdbtop
      assert(now < s.linearfdbcap, ("LinearFDBTop is %d, LinearFDBCap %d"):format(now, s.linearfdbcap))
    end
  end
end)
sub("PortStateChange", function()
  check("PortStateChange after writing 1", set({ portstatechange = 1 }).portstatechange, 0)
end)
mad.set { attribute = "SwitchInfo", data = before.data, switchinfo = { portstatechange = 0 } }
