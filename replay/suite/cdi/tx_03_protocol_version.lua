-- CDI-TX-03: when Reset is acknowledged by a receiver with probe version 3 or later, ProtocolVersion follows at once. It has
-- the transmitter's own version, whatever that of the Ack. cdi-probe.md 3.3 rows T4 and T5, 3.6.
test { id = "CDI-TX-03", title = "ProtocolVersion behind Ack of Reset", covers = { "CDI-S03", "CDI-S04" }, needs = { cdi = "tx" } }

local rx = open_cdi_rx {}
local own
for _, version in ipairs { "2.3.5", "2.0.3" } do
  sub("Ack of " .. version, function()
    local reset = rx:begin()
    rx:send { "Ack", of = reset, version = version }
    local pv = rx:expect { "ProtocolVersion", within = "100 ms", number = reset.number + 1 & 0xffff, bytes = 248, version = own,
                           cdi = { requires_ack = 1, version_num = { min = 2 }, probe_version_num = { min = 3 } } }
    own = pv.version
    rx:send { "Reset", version = own }  -- ends it
    rx:expect { "Reset", at = "1 s", tolerance = "200 ms" }
  end)
end
