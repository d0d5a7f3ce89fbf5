#!/usr/bin/env bash
# rdmascope test with the CDI probe: which model a test gets, how a program is named, records; and a model that is a program of its
# own, over sockets of this machine.
cd "$(dirname "$0")/../.."
. tests/cli/lib.sh

own_port=$((20000 + $$ % 10000))  # others may run this, too

check cdi-suite 0 '^63 tests: 63 passed$' "$tool" test cdi
check cdi-suite-of-sdk-2.4.1 0 '^63 tests: 63 passed$' "$tool" test cdi --dut model:version=2.2.5
check cdi-rx 0 '^n/a   CDI-TX-01' "$tool" test CDI-TX-01 --dut model:cdi-rx
check cdi-tx 0 '^ok    CDI-TX-01' "$tool" test CDI-TX-01 --dut model:cdi-tx
check cdi-needs-cdi 0 '^n/a   CDI-RX-02' "$tool" test CDI-RX-02 --dut model:switch
check cdi-queue-pairs-are-elsewhere 0 'not through queue pairs' "$tool" test Q-01-psn --dut model:cdi-rx
check cdi-mutant 1 'expected Ack of Reset #7: cdi.ack.control_packet_num: expected 7, got 8' \
  "$tool" test CDI-RX-02 --dut model:mutant=cdi-rx-ack-number
check cdi-mutants-are-listed 0 '^cdi-tx-no-resend +S02' "$tool" test --list-mutants
check cdi-tests-are-listed 0 '^CDI-RX-16 ' "$tool" test --list cdi
check cdi-help 0 'cdi-rx:ADDRESS:PORT' "$tool" test --help
check cdi-no-such-mutant 2 'no such mutant' "$tool" test cdi --dut model:cdi-rx,mutant=nak-twice
check cdi-no-such-version 2 'the model knows 2.2.5 and 2.3.5' "$tool" test cdi --dut model:cdi-rx,version=1.0.0
check cdi-no-such-scale 2 'write how many times as long' "$tool" test cdi --dut model:cdi-rx,scale=0
check cdi-words-of-other-models 2 'is for the model of the CDI probe' "$tool" test cdi --dut model:switch,scale=2
for place in 10.0.0.1 10.0.0.1:x localhost:2000 ''; do
  check "cdi-rx-written-as-'$place'" 2 'write ADDRESS:PORT with an IPv4 address' "$tool" test cdi --dut "cdi-rx:$place"
done
check cdi-port-0 2 'say which port' "$tool" test cdi --dut cdi-tx:0
check cdi-wire 2 'goes with --wire udp' "$tool" test cdi --dut cdi-rx:10.0.0.1:2000 --wire memory
check cdi-two-addresses 2 'says another address' "$tool" test cdi --dut cdi-tx:127.0.0.1:2000 --wire udp:127.0.0.2
check cdi-silence 2 'no message of cdi-tx:127.0.0.1:' "$tool" test CDI-TX-01 --dut "cdi-tx:127.0.0.1:$own_port,scale=0.01"

check cdi-record 0 '^1 test: 1 passed' "$tool" test CDI-RX-02 --record "$work/cdi.pcapng"
check cdi-record-is-a-capture 0 'CDI +281 Ack #1 of Reset #7 2.3.5' "$tool" read "$work/cdi.pcapng"
check cdi-record-has-steps 0 'rx_02_reset.lua:[0-9]+ expect Reset' "$tool" read -V "$work/cdi.pcapng"
check cdi-record-has-right-checksums 0 '^4$' sh -c \
  "'$tool' read '$work/cdi.pcapng' -T fields -e frame.number -Y 'ip.checksum.status == good && cdi.checksum.status == good' | wc -l"

# Models as programs. What the tester may not send to a device is not applicable.
serve() {  # its words
  "$tool" dut --model "$@" 2>"$work/served" &
  served=$!
  for _ in $(seq 100); do grep -q ' at ' "$work/served" && break; sleep 0.05; done
  port=$(sed -n 's/.* at 127.0.0.1:\([0-9]*\)$/\1/p' "$work/served")
}
serve cdi-rx,scale=0.2 --listen 127.0.0.1:0
check cdi-served-rx 0 '^8 tests: 8 passed$' "$tool" test CDI-RX-02 CDI-RX-03 CDI-RX-05 --dut "cdi-rx:127.0.0.1:$port,scale=0.2"
check cdi-served-rx-has-no-data-path 0 'its data path is EFA' "$tool" test CDI-RX-16 --dut "cdi-rx:127.0.0.1:$port,scale=0.2"
check cdi-served-rx-is-not-harmed 0 'may crash the device' "$tool" test CDI-RX-11 --dut "cdi-rx:127.0.0.1:$port,scale=0.2"
kill -TERM $served
expect cdi-served-rx-ends wait $served
serve cdi-tx,scale=0.2 --listen 127.0.0.1:0 --to "127.0.0.1:$own_port"
check cdi-served-tx 0 '^4 tests: 4 passed$' "$tool" test CDI-TX-01 CDI-TX-03 CDI-TX-08 --dut "cdi-tx:$own_port,scale=0.2"
check cdi-served-tx-is-not-harmed 0 'names an adapter where nobody is' "$tool" test CDI-TX-05 --dut "cdi-tx:$own_port,scale=0.2"
check cdi-served-tx-destructive 0 '^ok    CDI-TX-05' "$tool" test CDI-TX-05 --dut "cdi-tx:$own_port,scale=0.2" --destructive
kill -TERM $served
expect cdi-served-tx-ends wait $served
check cdi-model-unknown 2 'there are cdi-rx and cdi-tx' "$tool" dut --model switch
check cdi-model-word 2 'no word ports=3; there are version=2.2.5' "$tool" dut --model cdi-rx,ports=3
check cdi-model-needs-a-receiver 2 'say with --to' "$tool" dut --model cdi-tx --listen 127.0.0.1:0
exit $status
