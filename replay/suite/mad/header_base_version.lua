-- MAD-BADVER: a MAD of a base version that the device does not know is not answered, or with status code 1. mad.md 9.2.
test { id = "MAD-base-version", title = "An unknown base version", covers = { "MAD-BADVER" }, needs = { mads = true } }

for _, version in ipairs { 2, 0, 0x80, 0xff } do
  sub("version " .. version, function()
    local request = mad.send { attribute = "NodeInfo", mad = { baseversion = version } }
    mad.maybe { to = request, status = 1, echo = false, within = "200 ms" }
    mad.get { attribute = "NodeInfo" }  -- and nothing else has come of it
  end)
end
