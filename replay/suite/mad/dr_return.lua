-- C14-13:2: a switch sends a returning directed-route SMP on that is not at its end: it takes 1 from the hop pointer and lets
-- it leave by the port the return path says. mad.md 2.2.
test { id = "SMP-return", title = "A switch sends returning SMPs on", covers = { "C14-13:2", "SMP-HOPPTR" }, needs = { mads = "switch" } }

local node = mad.node()
if not node.on_link or #node.route ~= 2 then not_applicable("the tester must be at the other end of its link, with nothing between") end
local port = node.local_port
local back = string.char(0, port, port) .. ("\0"):rep(61)  -- the return path, by hop
local request = mad.send { class = "SubnDirectedRoute", attribute = "NodeInfo", method = "GetResp", route = { 0, 1, port },
                           mad = { d = 1, hoppointer = 2, hopcount = 2 }, smppaths = { returnpath = back } }
local on = mad.expect { to = request, echo = false, status = any }
check("method", on.method, 0x81)
check("D", on.mad.d, 1)
check("hop pointer", on.mad.hoppointer, 1)
check("hop count", on.mad.hopcount, 2)
