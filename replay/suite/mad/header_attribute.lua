-- MAD-BADATTR: an attribute that nobody has is answered with status code 3, if at all. mad.md 1.3, 9.2.
test { id = "MAD-attribute", title = "An unknown attribute", covers = { "MAD-BADATTR" }, needs = { mads = true } }

for _, method in ipairs { "Get", "Set" } do
  for _, attribute in ipairs { 0x00aa, 0x0013, 0x00fe } do
    sub(("%s 0x%04x"):format(method, attribute), function()
      local request = mad.send { attribute = attribute, method = method }
      mad.maybe { to = request, status = 3, within = "200 ms" }
      mad.get { attribute = "NodeInfo" }
    end)
  end
end
