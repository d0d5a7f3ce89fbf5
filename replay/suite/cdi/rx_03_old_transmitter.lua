-- CDI-RX-03: a transmitter with a probe version below 3 gets an Ack of its own version, once the receiver has started, and
-- Reset of that version when no probe packets come within 2 s. cdi-probe.md 3.4 rows R5, R9, R13, R15, 3.6.
test { id = "CDI-RX-03", title = "Transmitters of SDK 1.0 and 2.0", covers = { "CDI-A07" }, needs = { cdi = "rx" } }

for _, version in ipairs { "1.0.0", "1.0.2" } do
  sub(version, function()
    local tx = open_cdi_tx {}
    tx:allow { "Reset", number = 1, cdi = { requires_ack = 0 } }
    local reset = tx:send { "Reset", version = version }
    local ack = tx:expect { "Ack", of = reset, version = version, bytes = 257 }
    tx:expect { "Reset", at = "2 s", version = version, bytes = 252, number = ack.number + 1, cdi = { requires_ack = 0 } }
  end)
end
