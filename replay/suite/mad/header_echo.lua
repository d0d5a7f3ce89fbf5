-- MAD-ECHO, MAD-RESPMETHOD: an answer repeats class, attribute and modifier of the request; a Set is answered with
-- GetResp, too. Base version 1, reserved bits 0. mad.md 1.2, 1.3, 9.1, 9.2.
test { id = "MAD-echo", title = "What an answer repeats", covers = { "MAD-ECHO", "MAD-RESPMETHOD", "MAD-BASEVER", "MAD-STATUSRSVD" },
       needs = { mads = true } }

local function look(method, attribute, modifier, data)
  sub(("%s %s 0x%x"):format(method, attribute, modifier), function()
    local answer = mad[method] { attribute = attribute, modifier = modifier, data = data, status = any }
    check("class version", answer.mad.classversion, 1)
    check("reserved bits of the status", answer.mad["status.reserved"], 0)
    check("busy and redirect", answer.status_word & 3, 0)
    check("bits 14:8 of the status", answer.status_word & 0x7f00, 0)
    check("status code", answer.status, { 0, 3, 7 })
    check("reserved bytes of the header", answer.mad.reserved16, 0)
  end)
end
look("get", "NodeInfo", 0)
look("get", "PortInfo", mad.node().local_port)
look("get", "P_KeyTable", 0)
look("get", "P_KeyTable", 0x10000 | 2047)
look("set", "P_KeyTable", 0x10000 | 2047, ("\0"):rep(64))
look("get", "NodeDescription", 0)
