#!/usr/bin/env bash
# Management datagrams across packets: stats mads and fabric, questions and answers in read, records of two segments.
cd "$(dirname "$0")/../.."
. tests/cli/lib.sh
clean=tests/golden/captures/mad-clean.pcap

"$tool" stats "$clean" mads -T json >"$work/mads.json" 2>&1
expect stats-mads-reads python3 -c "
import json
rows = json.load(open('$work/mads.json'))
assert len(rows) > 40
first = rows[0]
assert 'NodeInfo' in first['what'] and first['outcome'] == 'ok' and first['latency_ns'] > 0, first
table = [r for r in rows if 'GetTable(NodeRecord)' in r['what'] and r.get('segments') == 3]
assert table and table[0]['outcome'] == 'ok', table
assert any(r['outcome'].startswith('answer broken off') for r in rows), 'no broken answer'
assert any(r['sent'] > 1 for r in rows), 'nothing was asked twice'
assert any('route' in r and r['route'] == '0,1' for r in rows), 'no directed route'
assert all(r['answer_frame'] > r['frame'] for r in rows if 'answer_frame' in r)
"
"$tool" stats "$clean" fabric -T json >"$work/fabric.json" 2>&1
expect stats-fabric-reads python3 -c "
import json
rows = json.load(open('$work/fabric.json'))
nodes = {r['node_guid'] for r in rows}
linked = {(r['node_guid'], r['port']): (r['peer_guid'], r['peer_port']) for r in rows if 'peer_guid' in r}
assert len(nodes) >= 3, nodes
assert linked and all(linked.get(peer, end) == end for end, peer in linked.items()), linked
assert any(r['type'] == 'Switch' for r in rows) and any('lid' in r for r in rows)
"
expect stats-mads-of-none test -z "$("$tool" stats samples/rc-read.pcap.zst mads | grep -v "^ *#")"

# Five records of 112 bytes in three segments: two of them begin in one and end in the next.
frames=$("$tool" read "$clean" -Y 'infiniband.rmpp.segmentnumber && infiniband.noderecord || infiniband.sa.part' -T fields -e frame.number | head -3 | tr '\n' ' ')
records() { "$tool" read "$clean" -V "$@" -Y "frame.number in {${frames// /,}0}" | grep -c '^NodeRecord'; }
expect table-records-all test "$(records)" -eq 5
expect table-records-without-the-others test "$(records --analysis never)" -eq 3
check table-record-of-two-segments 0 '^NodeRecord.*\(4 bytes, begun in the segment before\)$' "$tool" read "$clean" -V
expect table-record-is-whole python3 -c "
import subprocess
out = subprocess.run(['$tool', 'read', '$clean', '-V'], capture_output=True, text=True).stdout
guids = [l.strip() for l in out.split('\n') if l.strip().startswith('NodeGUID: ')]
whole = [l for l in guids]
assert len(set(whole)) >= 3, whole
"
check mad-answer-names-its-question 0 'Request in frame: 1\]?$' "$tool" read "$clean" -V
check mad-question-names-its-answer 0 'Response in frame: 2\]?$' "$tool" read "$clean" -V
exit $status
