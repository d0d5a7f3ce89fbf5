#!/usr/bin/env bash
# rdmascope capture and interfaces with RDMA devices: those of the verbs double (tests/verbs_double).
cd "$(dirname "$0")/../.."
. tests/cli/lib.sh

library=$(dirname "$(dirname "$(realpath "$tool")")")/tests/verbs_double/lib
if [ ! -d "$library" ]; then
  echo "skip cli/sniffer: no verbs double beside the tool"
  exit 0
fi
"$tool" read samples/rc-send.pcap.zst -w "$work/sent.pcap" -F pcap
with() { env LD_LIBRARY_PATH="$library" VERBS_DOUBLE_PACKETS="$work/sent.pcap" "$@"; }
bytes_of() { "$tool" read "$1" -Y 'infiniband' -x | grep '^[0-9a-f]\{4\} '; }

check rdma-devices 0 '^mlx5_0:1 +ACTIVE +RDMA device, Ethernet, driver mlx5_core, network interface eth5$' with "$tool" interfaces
check rdma-device-by-name 0 '^mlx4_0:2 +ACTIVE +RDMA device, InfiniBand, driver mlx4_core$' with "$tool" interfaces mlx4_0
check rdma-devices-in-json 0 '"rdma_device":"soft0","driver":"","state":"DOWN","link_layer":"Ethernet","network_interface":"eth9"' \
  with "$tool" interfaces -T json
for device in mlx5_0 mlx4_0:1; do
  check "sniffer-says-how-$device" 0 "$device: capturing through an RDMA sniffer queue pair" \
    with "$tool" capture -i $device -c 110 -w "$work/seen.pcapng"
  expect "sniffer-same-bytes-$device" cmp -s <(bytes_of "$work/seen.pcapng" | head -1000) <(bytes_of "$work/sent.pcap" | head -1000)
done
check sees 0 '^captures there: all that the port sends and receives' with "$tool" interfaces mlx5_0
check status-in-json 0 '^{"event":"ended","seconds":[0-9.]*,"packets":110,"bytes":[0-9]*,"filtered":0,"lost":0,.*"written":110,"files":1,"file":"' \
  with "$tool" capture -i mlx4_0 -c 110 -w "$work/seen.pcapng" --status json
check status-in-json-leaves-out-what-is-unknown 0 '"filtered":0,"rdma_share"' \
  with "$tool" capture -i mlx5_0 -c 110 -w "$work/seen.pcapng" --status json
check sniffer-knows-no-loss 0 '110 written to .*, 0 lost$' with "$tool" capture -i mlx4_0 -c 110 -w "$work/seen.pcapng"
check sniffer-does-not-know 0 ', loss unknown$' with "$tool" capture -i mlx5_0 -c 110 -w "$work/seen.pcapng"
check sniffer-lost 0 '[1-9][0-9]* lost$' with VERBS_DOUBLE_FAULTS=sd@30=1 "$tool" capture -i mlx4_0 -c 100 -w "$work/seen.pcapng"
check sniffer-loss-is-read-back 0 'packets were dropped while it was made' "$tool" read "$work/seen.pcapng"
check sniffer-completions 0 '110 written' with "$tool" capture -i mlx4_0 --completions -c 110 -w "$work/seen.pcapng"
expect completions-beside-packets test "$("$tool" read "$work/seen.pcapng" -Y 'frame.interface_id == 1' | wc -l)" -eq 55
check sniffer-refused 2 'capture its network device eth5 instead' with VERBS_DOUBLE_FAIL=create_flow=EOPNOTSUPP "$tool" capture -i mlx5_0 -c 1
check sniffer-not-permitted 2 'CAP_NET_RAW' with VERBS_DOUBLE_FAIL=create_qp=EPERM "$tool" capture -i mlx5_0 -c 1
check device-in-software 2 'soft0 is a device in software and has no sniffer; capturing on its network interface eth9' \
  with "$tool" capture -i soft0 -c 1
check rdma-device-takes-no-capture-filter 2 'takes no capture filter; use a display filter' with "$tool" capture -i mlx5_0 -f udp -c 1
check rdma-device-display-filter 0 ': 5 shown, ' with "$tool" capture -i mlx5_0 -Y infiniband.aeth -c 5
exit $status
