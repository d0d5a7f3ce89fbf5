-- MAD-BADMETHOD: a method that the class does not have is not answered, or with status code 2. mad.md 1.3, 9.2.
test { id = "MAD-method", title = "An unknown method", covers = { "MAD-BADMETHOD" }, needs = { mads = true } }

for _, method in ipairs { 0x0b, 0x12, 0x15, 0x7f } do
  sub(("method 0x%02x"):format(method), function()
    local request = mad.send { attribute = "NodeInfo", method = method }
    mad.maybe { to = request, status = 2, echo = false, within = "200 ms" }
    mad.get { attribute = "NodeInfo" }
  end)
end
