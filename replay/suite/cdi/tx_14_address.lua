-- CDI-TX-14: probe packets go to the adapter that the Ack of ProtocolVersion names, not to that of the Ack of Reset, whose
-- endpoint is closed. cdi-probe.md 2.5.
test { id = "CDI-TX-14", title = "The receiver's address on EFA", covers = { "CDI-G01" }, needs = { cdi = "tx" } }

local function adapter(qpn) return "\xfe\x80" .. ("\0"):rep(13) .. "\x42" .. string.pack("<I2I2I4I8", qpn, 0, 0x1234567, 0) end

local rx = open_cdi_rx {}
rx:send { "Ack", of = rx:begin(), senders_gid_array = adapter(0x101) }
local pv = rx:expect { "ProtocolVersion", within = "100 ms" }
rx:send { "Ack", of = pv, version = pv.version, senders_gid_array = adapter(0x102) }
rx:wait("300 ms")
local target = rx:data_address()
check("queue pair of the probe packets", string.unpack("<I2", target, 17), 0x102)
assert(target == adapter(0x102), "probe packets go to another address")
