-- CDI-RX-11: an unknown command is dropped, or at least not acknowledged. SDKs take the message for the first of a new
-- transmitter and send Reset. cdi-probe.md 2.4 step 5.
--
-- Debug builds of the SDK abort: without --destructive nothing is sent to a device.
test { id = "CDI-RX-11", title = "Unknown commands", covers = { "CDI-F03" }, needs = { cdi = "rx" } }

for _, command in ipairs { 0, 6, 9, 0x01000000 } do
  sub("command " .. command, function()
    local tx = open_cdi_tx {}
    tx:send { command }
    if tx:maybe { "Reset", within = "500 ms", cdi = { requires_ack = 0 } } then
      note("the receiver sends Reset after a message with command " .. command)
    end
    tx:quiet { within = "1 s" }
  end)
end
