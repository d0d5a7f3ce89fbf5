#!/usr/bin/env bash
# rdmascope script-from: what it writes from a capture of either end's device passes on the model.
cd "$(dirname "$0")/../.."
. tests/cli/lib.sh

for sample in rc-read rc-read-v6 rc-write rc-send rc-cas rc-fadd uc-send uc-write rc-read-bw; do
  for role in requester responder; do
    "$tool" script-from "samples/$sample.pcap.zst" --dut-is "$role" --count 200 >"$work/$sample.lua" 2>"$work/err"
    check "script-from-$sample-$role" 0 '^1 test: 1 passed$' "$tool" test "$work/$sample.lua" --record "$work/$sample.pcapng"
    check "script-from-$sample-$role-record-is-clean" 0 'Clean: no violation' "$tool" check "$work/$sample.pcapng"
  done
done

# It proves something: a model with a fault fails a script from a good capture.
for fault in "rc-read responder read-response-wrong-data" "rc-read requester dmalen-off-by-one"; do
  read -r sample role mutant <<<"$fault"
  "$tool" script-from "samples/$sample.pcap.zst" --dut-is "$role" >"$work/$sample.lua"
  check "script-from-$sample-$role-catches-$mutant" 1 '^FAIL' "$tool" test "$work/$sample.lua" --dut "model:mutant=$mutant"
done
exit $status
