-- CDI-TX-15: Pings come 5 s after the last Ack, or 3 s where the version agreed on has a probe version below 5.
-- cdi-probe.md 3.3 row T21.
test { id = "CDI-TX-15", title = "The period of Pings", covers = { "CDI-S10" }, needs = { cdi = "tx" } }

local rx = open_cdi_rx {}
for _, case in ipairs { { "own version" }, { "2.1.4", "2.1.4" } } do
  sub(case[1], function()
    rx:send { "Ack", of = rx:begin() }
    local pv = rx:expect { "ProtocolVersion", within = "100 ms" }
    if pv.cdi.probe_version_num < 5 then not_applicable("a transmitter of an SDK before 2.4.1") end
    local version = case[2] or pv.version
    rx:send { "Ack", of = pv, version = version }
    rx:wait("300 ms")
    rx:deliver {}
    rx:send { "Connected", version = version }
    local ping = rx:expect { "Ping", within = "300 ms", version = version }
    for _ = 1, 2 do
      rx:send { "Ack", of = ping, version = version }
      ping = rx:expect { "Ping", at = case[2] and "3 s" or "5 s", version = version, number = ping.number + 1 & 0xffff }
    end
  end)
end
