-- Reserved bits of a request are not looked at, as long as nobody gave them a meaning. mad.md section 1.
test { id = "MAD-reserved", title = "Reserved bits of a request", covers = { "MAD-RSVD" }, needs = { mads = true } }

for _, value in ipairs { 1, 0x8000, 0xffff } do
  sub(("0x%04x"):format(value), function() mad.get { attribute = "NodeInfo", mad = { reserved16 = value } } end)
end
