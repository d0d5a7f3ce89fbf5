-- CDI-TX-10: the first Ping follows Connected at once. Without an Ack it is sent again every 500 ms, 40 times in all, and then
-- Reset of the version that was agreed on. SDKs before 2.4.1 send it 2, 4 or 5 times. cdi-probe.md 3.3 rows T12 to T20, 3.2.
test { id = "CDI-TX-10", title = "Pings without an Ack", covers = { "CDI-S09", "CDI-S11", "CDI-S12", "CDI-V01" }, needs = { cdi = "tx" } }

local rx = open_cdi_rx {}
rx:send { "Ack", of = rx:begin() }
local pv = rx:expect { "ProtocolVersion", within = "100 ms" }
rx:send { "Ack", of = pv, version = pv.version }
rx:quiet { within = "300 ms" }  -- its adapter starts
rx:deliver {}
rx:send { "Connected", version = pv.version }
local last = rx:expect { "Ping", within = "300 ms", version = pv.version, number = pv.number + 1 & 0xffff, bytes = 248,
                         cdi = { requires_ack = 1 } }
local times = 1
while true do
  last = rx:expect { "Ping", "Reset", at = "500 ms", version = pv.version, number = last.number + 1 & 0xffff }
  if last.command == "Reset" then break end
  times = times + 1
  if times > 60 then fail("Ping was sent more than 60 times") end
end
check("how often Ping was sent", times, pv.cdi.probe_version_num >= 5 and 40 or { 2, 4, 5 })
