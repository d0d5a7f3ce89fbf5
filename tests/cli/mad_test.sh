#!/usr/bin/env bash
# rdmascope test with management datagrams: which model a test gets, how a node is named, sampling, records. In memory; a fabric is
# in tests/ibsim.
cd "$(dirname "$0")/../.."
. tests/cli/lib.sh

check mad-a-test-gets-its-model 0 '^2 tests: 2 passed$' "$tool" test C14-024-11 SMP-discovery --filter '*/get block 0'
check mad-switch 0 '^ok    SMP-discovery' "$tool" test SMP-discovery --dut model:switch
check mad-hca 0 '^n/a   C14-024-11' "$tool" test C14-024-11 --dut model:hca
check mad-transport-needs-queue-pairs 0 'not through queue pairs' "$tool" test Q-01-psn --dut model:switch
check mad-needs-mads 0 '^n/a   SMP-discovery' "$tool" test SMP-discovery --dut model:mutant=nak-twice
check mad-seed 0 'all 2048 blocks of ports 1 to 8, Set and Get: 32768 exchanges' "$tool" test C14-024-07-02
check mad-seed-sampled 0 'sampled: blocks 0, 1, 2, 31, 32, 1023 and 2047 of ports 1 to 8, Set and Get: 112 exchanges' "$tool" test C14_024_07_02 --sampled
check mad-seed-with-tables 0 'PartitionEnforcementCap is 33: external ports have tables' "$tool" test C14-024-07-02 --dut model:switch,cap=33
while read -r mutant why; do
  check "mad-seed-catches-$mutant" 1 "$why" "$tool" test C14-024-07-02 --sampled --dut "model:mutant=$mutant"
done <<'TEXT'
mad-p-key-wrong-status Set of block 0 of port 1: status code 3 \(no such attribute\) instead of 7
mad-modifier-not-echoed attribute modifier, bits 15:0: expected 0x0001, got 0x0000
mad-attribute-id-wrong infiniband.mad.attributeid: expected 0x0012, got 0x0013
mad-p-key-set-accepted Set of block 0 of port 1: status code: expected 0x0007, got 0x0000
mad-p-key-get-answered Get of block 0 of port 1: status code: expected 0x0007, got 0x0000
mad-p-key-last-block Set of block 2047 of port 1: status code: expected 0x0007, got 0x0000
mad-p-key-last-port Set of block 0 of port 8: status code: expected 0x0007, got 0x0000
TEXT
check mad-seed-warns-of-the-port 0 'warning: 112 answers carry another port in bits 31:16' "$tool" test C14-024-07-02 --sampled --dut model:mutant=mad-modifier-port-not-echoed
check mad-mutants-are-listed 0 '^mad-p-key-wrong-status +SMP-PKBLK' "$tool" test --list-mutants
check mad-no-such-mutant 2 'no such mutant' "$tool" test --dut model:switch,mutant=nak-twice
check mad-no-such-cap 2 'write cap=N' "$tool" test --dut model:switch,cap=x
check mad-node-needs-a-wire 2 'goes with --wire umad' "$tool" test mad --dut node:0,1
check mad-node-needs-a-mad-wire 2 'carries no management datagrams; choose umad or ibsim' "$tool" test mad --dut node:0,1 --wire udp:127.0.0.3
check mad-node-is-no-memory 2 'leads to the model only' "$tool" test mad --dut node:0,1 --wire memory
for place in 1 0,x 0,255 lid=0 lid=65535 ''; do
  check "mad-node-written-as-'$place'" 2 'write node:ROUTE as node:0,1, or node:lid=LID' "$tool" test mad --dut "node:$place" --wire ibsim
done
check mad-no-ibsim 2 'no ibsim of the name rdmascope-nobody' "$tool" test mad --dut node:0,1 --wire ibsim:rdmascope-nobody
check mad-umad-port 2 'write umad:DEVICE,PORT' "$tool" test mad --dut node:0,1 --wire umad:mlx5_0,x
check mad-umad-is-not-here 2 '^rdmascope: umad wire: (cannot load libibumad|no InfiniBand management devices|nobody port 1: no such InfiniBand port)' \
  "$tool" test mad --dut node:0,1 --wire umad:nobody,1

# A record opens as a capture, its requests and answers by name.
check mad-record 0 '9 passed' "$tool" test C14-024-03 PM-counters-count --record "$work/mad.pcapng"
check mad-record-has-names 0 'SubnGet\(NodeInfo\)' "$tool" read "$work/mad.pcapng"
check mad-record-has-right-crcs 0 ' 0 bad, 0 not verified' "$tool" check "$work/mad.pcapng"
check mad-record-is-clean 0 'no violation' "$tool" check "$work/mad.pcapng"

# Replay of its requests.
check mad-replay-needs-a-wire 2 'no ibsim of the name' "$tool" replay "$work/mad.pcapng" --wire ibsim:rdmascope-nobody
check mad-replay-to-an-address 2 '--to ADDRESS is missing' "$tool" replay "$work/mad.pcapng" --wire udp
exit $status
