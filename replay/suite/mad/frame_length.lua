-- MAD-LEN: a MAD has 256 bytes; a shorter one is dropped. mad.md 9.1.
test { id = "MAD-length", title = "A MAD of fewer than 256 bytes", covers = { "MAD-LEN" }, needs = { mads = true } }

for _, bytes in ipairs { 252, 128, 64 } do
  sub(bytes .. " bytes", function()
    mad.send { attribute = "NodeInfo", bytes = bytes, class = "SubnLID" }
    mad.expect_no_answer { within = "100 ms" }
    mad.get { attribute = "NodeInfo" }
  end)
end
