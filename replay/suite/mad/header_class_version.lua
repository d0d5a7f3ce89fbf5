-- MAD-BADVER: a MAD of a class version that the device does not know is not answered, or with status code 1. mad.md 9.2.
test { id = "MAD-class-version", title = "An unknown class version", covers = { "MAD-BADVER" }, needs = { mads = true } }

for _, version in ipairs { 0, 2, 3, 0xff } do
  sub("version " .. version, function()
    local request = mad.send { attribute = "NodeInfo", mad = { classversion = version } }
    mad.maybe { to = request, status = 1, echo = false, within = "200 ms" }
    mad.get { attribute = "NodeInfo" }
  end)
end
