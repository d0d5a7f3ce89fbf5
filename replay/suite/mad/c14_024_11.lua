-- C14-024-11: RandomForwardingTable. RandomFDBCap 0: every block is refused; else it is read. CTS class C14_024_11 (its title);
-- mad.md 3.9.
test { id = "C14-024-11", title = "RandomForwardingTable", covers = { "C14-024#11", "MAD-BADATTR" }, needs = { mads = "switch" } }

local cap = mad.get { attribute = "SwitchInfo" }.switchinfo.randomfdbcap
for _, method in ipairs { "get", "set" } do
  for _, block in ipairs { 0, 1, 3071 } do
    if 16 * block >= cap then
      sub(method .. " block " .. block, function()
        local answer = mad.maybe { to = mad.send { attribute = "RandomForwardingTable", method = method, modifier = block }, status = any }
        assert(not answer or answer.status ~= 0, "answered with success although RandomFDBCap is " .. cap)
      end)
    else
      sub("get block " .. block, function() mad.get { attribute = "RandomForwardingTable", modifier = block } end)
    end
  end
end
