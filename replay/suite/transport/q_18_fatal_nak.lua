-- After a fatal NAK the request fails with the status that belongs to its code, everything else is flushed, and the DUT sends
-- nothing new, not even what is posted later.
-- ib-wire.md Q-18, table 4.4, C-04.
test { id = "Q-18-fatal-nak", title = "A fatal NAK ends a connection", covers = { "Q-18", "C-02", "C-04" } }

local cases = { { NAK_INVALID_REQUEST, "rem_inv_req_err" }, { NAK_REMOTE_ACCESS, "rem_access_err" },
                { NAK_REMOTE_OPERATION, "rem_op_err" } }
for _, case in ipairs(cases) do
  sub("READ, " .. case[2], function()
    local rc = open_rc { mtu = 256, initiator_depth = 1 }
    local first, second = rc.dut:post_read { count = 2, length = 100 }
    expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0) }
    rc:nak { psn = rc.psn(0), msn = 0, syndrome = case[1] }
    rc.dut:expect_completion { of = first, status = case[2] }
    rc.dut:expect_completion { of = second, status = "wr_flush_err" }
    quiet()
    rc.dut:expect_state "error"
    local late = rc.dut:post_send { data = pattern(20) }
    rc.dut:expect_completion { of = late, status = "wr_flush_err" }
    quiet()
    rc:close { flushed = 0 }
  end)
  sub("SEND, " .. case[2], function()
    local rc = open_rc { mtu = 256 }
    local first, second, third = rc.dut:post_send { count = 3, data = pattern(20) }
    for i = 0, 2 do rc:expect_send { psn = rc.psn(i), data = pattern(20) } end
    rc:nak { psn = rc.psn(1), msn = 1, syndrome = case[1] }  -- acknowledges what stands before it
    rc.dut:expect_completion { of = first, status = "success" }
    rc.dut:expect_completion { of = second, status = case[2] }
    rc.dut:expect_completion { of = third, status = "wr_flush_err" }
    quiet()
    rc:close { flushed = 0 }
  end)
end
