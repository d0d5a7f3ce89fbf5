-- MAD-METHATTR: attributes that can only be read are not set. A Set of NodeInfo is answered with status code 3, and
-- changes nothing. mad.md 3.2, 9.2; CTS class C14_024_03.
test { id = "MAD-set-of-get-only", title = "Set of attributes that can only be read", covers = { "MAD-METHATTR", "MAD-RONOSET" },
       needs = { mads = true } }

for _, attribute in ipairs { "NodeInfo", "NodeDescription" } do
  sub(attribute, function()
    local before = mad.get { attribute = attribute }.data
    local other = {}
    for i = 1, #before do table.insert(other, string.char(before:byte(i) ~ 0xff)) end
    local request = mad.send { attribute = attribute, method = "Set", data = table.concat(other) }
    mad.maybe { to = request, status = 3 }
    assert(mad.get { attribute = attribute }.data == before, attribute .. " was changed by a Set")
  end)
end
