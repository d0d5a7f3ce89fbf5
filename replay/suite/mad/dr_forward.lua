-- C14-9:2: a switch sends a directed-route SMP on that is not at its end: it enters the arrival port into the return path,
-- adds 1 to the hop pointer, and leaves the rest. The route leads back to the tester, so that this can be seen. mad.md 2.2.
test { id = "SMP-forward", title = "A switch sends directed-route SMPs on", covers = { "C14-9:2", "SMP-HOPPTR", "SMP-RETPATH" },
       needs = { mads = "switch" } }

local node = mad.node()
if not node.on_link or #node.route ~= 2 then not_applicable("the tester must be at the other end of its link, with nothing between") end
local port = node.local_port
local request = mad.send { class = "SubnDirectedRoute", attribute = "NodeInfo", route = { 0, 1, port }, modifier = 0x12345678 }
local asked = mad.sent(request)
local on = mad.expect { to = request, echo = false, status = any }
check("method", on.method, 0x01)
check("D", on.mad.d, 0)
check("hop pointer", on.mad.hoppointer, 2)
check("hop count", on.mad.hopcount, 2)
check("entry 1 of the return path", on.smppaths.returnpath:byte(2), port)
check("attribute modifier", on.modifier, 0x12345678)
assert(on.smppaths.initialpath == asked.smppaths.initialpath, "the initial path has changed")
