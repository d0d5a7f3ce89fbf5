-- C14-024-15: LedInfo. IsLedInfoSupported decides: 0, and it is refused; else the LED is toggled, and read back. CTS class
-- C14_024_15 (its title); mad.md 3.11.
test { id = "C14-024-15", title = "LedInfo", covers = { "C14-024#15", "MAD-BADATTR" }, needs = { mads = true } }

local port = mad.get { attribute = "PortInfo" }.portinfo
if port["capabilitymask.ledinfosupported"] == 0 then
  for _, method in ipairs { "Get", "Set" } do
    sub("unsupported, " .. method, function()
      local answer = mad.maybe { to = mad.send { attribute = "LedInfo", method = method }, status = any }
      assert(not answer or answer.status ~= 0, "answered with success although IsLedInfoSupported is 0")
    end)
  end
else
  sub("toggle", function()
    local before = mad.get { attribute = "LedInfo" }.ledinfo.ledmask
    mad.set { attribute = "LedInfo", ledinfo = { ledmask = 1 - before } }
    local now = mad.get { attribute = "LedInfo" }.ledinfo.ledmask
    mad.set { attribute = "LedInfo", ledinfo = { ledmask = before } }
    check("LedMask", now, 1 - before)
  end)
end
