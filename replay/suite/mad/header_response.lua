-- A response is not answered, nor a TrapRepress: nobody has asked for it. mad.md 1.2.
test { id = "MAD-response", title = "A response is not answered", covers = { "1.2" }, needs = { mads = true } }

for _, method in ipairs { 0x81, 0x82 } do
  sub(("method 0x%02x"):format(method), function()
    mad.send { attribute = "NodeInfo", method = method }
    mad.expect_no_answer { within = "200 ms" }
  end)
end
