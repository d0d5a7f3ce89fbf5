-- An atomic does not complete on a plain ACK: its result is missing.
-- ib-wire.md R-05.
test { id = "R-05-atomic-plain-ack", title = "An atomic does not complete on a plain ACK",
       covers = { "R-05", "C-01" }, needs = { atomics = true } }

for _, work in ipairs { "FetchAdd", "CmpSwap" } do
  sub(work, function()
    local rc = open_rc { ack_timeout = 0 }
    if work == "FetchAdd" then rc.dut:post_fetch_add { add = 1 } else rc.dut:post_compare_swap { compare = 1, swap = 2 } end
    expect { work == "FetchAdd" and "RC_FETCH_ADD" or "RC_CMP_SWAP", psn = rc.psn(0) }
    allow { retransmission = true }
    rc:acknowledge { psn = rc.psn(0), msn = 1 }
    rc.dut:expect_no_completion { within = "500 ms" }
    send { "RC_ATOMIC_ACKNOWLEDGE", psn = rc.psn(0), aeth = { syndrome = ACK, msn = 1 },
           atomicacketh = { origremdt = 0x1122334455667788 } }
    rc.dut:expect_completion { original = 0x1122334455667788 }
    rc:close { flushed = 0 }
  end)
end
