-- CDI-RX-01: messages that are too short, of a wrong length or with a wrong checksum get no answer, and leave nothing behind.
-- cdi-probe.md 2.4.
test { id = "CDI-RX-01", title = "Damaged messages", covers = { "CDI-F01", "CDI-F02" }, needs = { cdi = "rx" } }

local tx = open_cdi_tx {}
local damages = {
  { "2 bytes", { cut = 250 } }, { "V1 of 251 bytes", { cut = 1 } }, { "V1 of 253 bytes", { extend = 1 } },
  { "V2 of 247 bytes", { cut = 1, version = "2.3.5" } }, { "V2 of 253 bytes", { extend = 5, version = "2.3.5" } },
  { "checksum", { checksum_xor = 0x0100 } },
}
for _, damage in ipairs(damages) do
  sub(damage[1], function()
    local reset = damage[2]
    reset[1] = "Reset"
    tx:send(reset)
    tx:quiet { within = "300 ms" }
  end)
end
sub("the next one that is right", function()
  tx:allow { "Reset", number = 1, cdi = { requires_ack = 0 } }
  local reset = tx:send { "Reset" }
  check("number of the first answer", tx:expect { "Ack", of = reset }.number, { 1, 2 })
end)
