-- SMP-SWONLY: SwitchInfo and forwarding tables are attributes of switches; a channel adapter refuses them with status code 3.
-- mad.md 9.3.
test { id = "SMP-switch-only", title = "Attributes of switches at a channel adapter", covers = { "SMP-SWONLY" }, needs = { mads = "ca" } }

for _, attribute in ipairs { "SwitchInfo", "LinearForwardingTable", "RandomForwardingTable", "MulticastForwardingTable" } do
  for _, method in ipairs { "Get", "Set" } do
    sub(method .. " " .. attribute, function()
      mad.maybe { to = mad.send { attribute = attribute, method = method }, status = 3 }
    end)
  end
end
