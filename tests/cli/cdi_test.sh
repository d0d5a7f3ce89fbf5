#!/usr/bin/env bash
# AWS CDI as a shell user meets it: what is recognised by itself, and --decode-as.
. "$(dirname "$0")/lib.sh"
captures=tests/golden/captures

# Of all captures that hold no CDI, not one packet is taken for it; ../shared/captures may be absent.
taken=
seen=0
for file in $captures/*.pcap* samples/*.pcap* $(find ../shared/captures -name '*.pcap*' 2>/dev/null); do
  case $file in */cdi-* | */efa-*) continue ;; esac
  seen=$((seen + 1))
  [ -z "$("$tool" read -T fields -e frame.number -Y 'cdi or efa' "$file" 2>/dev/null | head -n 1)" ] || taken+=" $file"
done
expect nothing-else-is-taken-for-cdi test -z "$taken"
expect many-captures-were-asked test "$seen" -gt 40
expect only-whole-good-messages-are-recognised test "$("$tool" read -T fields -e frame.number -Y cdi $captures/cdi-control.pcap | wc -l)" -eq 20

check decode-as 0 'CDI .*Reset #1 2\.3\.5 asks for Ack stream "cam1" \[checksum bad, should be 0x254f\]' \
  "$tool" read --decode-as udp.port==2000,cdi $captures/cdi-control.pcap
check decode-as-short 0 'CDI .*command 9 #1' "$tool" read -d udp.port==2000,cdi $captures/cdi-control.pcap
check decode-as-roce-port 0 'CDI' "$tool" read -d udp.port==4791,cdi -Y 'udp.port == 4791' $captures/cdi-control.pcap
check decode-as-other 0 'RC ' "$tool" read -d udp.port==9741,bth $captures/b12-udp-port-9741.pcap
for wrong in udp.port==2000 udp.port=2000,cdi udp.port==0,cdi udp.port==65536,cdi udp.port==x,cdi tcp.port==2000,cdi; do
  check "decode-as-refuses-$wrong" 2 '--decode-as .*: give it as udp\.port==PORT,START with PORT from 1 to 65535' \
    "$tool" read -d $wrong $captures/cdi-control.pcap
done
check decode-as-unknown-start 2 '--decode-as udp.port==2000,nonsense: no start named nonsense \(there are eth, ' \
  "$tool" read -d udp.port==2000,nonsense $captures/cdi-control.pcap
exit $status
