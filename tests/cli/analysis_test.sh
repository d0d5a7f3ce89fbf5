#!/usr/bin/env bash
# Fields that need the connections, as a shell user meets them: which options bring them, files and pipes, damaged files.
. "$(dirname "$0")/lib.sh"
loss=samples/loss-read.pcap.zst
zstd -qdc $loss >"$work/loss.pcap"
count() { "$tool" read "$@" -e frame.number -T fields 2>/dev/null | wc -l; }

for field in rdmascope.flow rdmascope.message rdmascope.finding rdmascope.finding.rule rdmascope.finding.class \
  infiniband.request_in infiniband.response_in infiniband.retransmission infiniband.retransmission_of; do
  check "analysis-fields-lists-$field" 0 "^$field " "$tool" fields $field
done
check analysis-bare-name-is-the-transport 0 'any header of InfiniBand' "$tool" fields infiniband
expect analysis-headers-are-no-fields test "$("$tool" fields | grep -cE '^(rdmascope|infiniband) ')" -eq 2
check analysis-typo-names-the-nearest 2 'did you mean "rdmascope\.finding\.rule"\?' "$tool" read -Y 'rdmascope.finding.rul == "Q-02"' $loss
check analysis-column-typo 2 'did you mean infiniband\.response_in\?' "$tool" read -e infiniband.reponse_in -T csv $loss

# A pipe of answers only: nothing pairs them, and each is shown with its connection when it comes.
"$tool" read $loss -Y 'ip.src == 10.77.0.2 and frame.number < 150' -w "$work/one-way.pcap" 2>"$work/err"
check analysis-one-way-pipe 0 '^1$' sh -c \
  '"$0" read - -T fields -e rdmascope.flow <"$1" 2>/dev/null | sort -u' "$tool" "$work/one-way.pcap"

# They come when something asks for them, and only then.
"$tool" read $loss -T ndjson >"$work/plain"
expect analysis-json-is-without test "$(grep -c '"rdmascope":{"flow":' "$work/plain")" -eq 0
"$tool" read $loss -T ndjson --analysis always >"$work/full"
expect analysis-json-on-request test "$(grep -c '"rdmascope":{"flow":' "$work/full")" -gt 0
expect analysis-changes-nothing-else cmp -s "$work/plain" \
  <(sed -E 's/,"rdmascope":\{"flow":[^}]*\}//; s/,"infiniband":\{[^}]*\}//' "$work/full")
"$tool" read tests/golden/captures/lengths.pcapng -T ndjson --analysis always >"$work/lengths"
cat >"$work/keys.py" <<'PYTHON'
import json
import sys


def once(pairs):
    assert len(pairs) == len(dict(pairs)), pairs
    return dict(pairs)


packets = [json.loads(line, object_pairs_hook=once) for line in open(sys.argv[1])]
if any("event" in p.get("rdmascope", {}) and "flow" in p["rdmascope"] for p in packets):
    print("together")
PYTHON
check analysis-json-keys-do-not-repeat 0 '^together$' python3 "$work/keys.py" "$work/lengths"
check analysis-tree 0 '^    \[Response in frame: [0-9]+\]$' "$tool" read -V $loss
check analysis-tree-shows-findings 0 '^    \[anomaly H-LOSS, ' "$tool" read -V $loss
expect analysis-tree-without test "$("$tool" read -V --analysis never $loss | grep -c 'Analysis')" -eq 0
expect analysis-lines-stay cmp -s <("$tool" read $loss) <("$tool" read --analysis always $loss)
check analysis-never-with-filter 2 '^rdmascope: --analysis never: the filter or a column asks' "$tool" read --analysis never -Y rdmascope.finding $loss
check analysis-never-with-column 2 '^rdmascope: --analysis never: ' "$tool" read --analysis never -e rdmascope.flow -T csv $loss
check analysis-unknown-setting 2 'no such setting; choose auto, always or never$' "$tool" read --analysis maybe $loss
expect analysis-to-a-file test "$("$tool" read $loss -Y infiniband.retransmission -w - | "$tool" read -e frame.number -T fields - | wc -l)" \
  -eq "$(count $loss -Y infiniband.retransmission)"

# A pipe is read once: said, and nothing is guessed.
check analysis-pipe-says-so 0 'standard input can be read only once: infiniband\.response_in' bash -c '"$0" read -e rdmascope.flow -T csv - <"$1"' "$tool" "$work/loss.pcap"
expect analysis-pipe-without-is-silent test -z "$("$tool" read - <"$work/loss.pcap" 2>&1 >/dev/null)"
columns="-e frame.number -e infiniband.request_in -e infiniband.retransmission -e infiniband.retransmission_of -T fields"
expect analysis-pipe-knows-the-past cmp -s <("$tool" read $columns "$work/loss.pcap") \
  <("$tool" read $columns - <"$work/loss.pcap" 2>/dev/null)
expect analysis-pipe-knows-no-future test "$("$tool" read -Y infiniband.response_in - <"$work/loss.pcap" 2>/dev/null | wc -l)" -eq 0
check analysis-named-pipe 0 '/dev/fd/[0-9]+ can be read only once' "$tool" read -Y rdmascope.finding <(cat "$work/loss.pcap")
check analysis-check-refuses-a-pipe 2 'standard input can be read only once; give a file' "$tool" check -Y 'rdmascope.flow == 1' -

# check and stats choose by them.
expect analysis-check-one-flow test "$("$tool" check samples/rc-read-bw.pcap.zst -T json -Y 'rdmascope.flow == 1' | grep -c '"id":')" -eq 1
check analysis-stats-one-flow 0 'RC Send First +10 ' "$tool" stats samples/rc-send.pcap.zst opcodes -Y 'rdmascope.flow == 1'

# A damaged file is told once.
head -c 20000 "$work/loss.pcap" >"$work/cut.pcap"
"$tool" read -e rdmascope.flow -T fields "$work/cut.pcap" >"$work/out" 2>"$work/error"
expect analysis-cut-file-exits-2 test $? -eq 2
expect analysis-cut-file-says-one-sentence test "$(wc -l <"$work/error")" -eq 1
check analysis-missing-file-says-one-sentence 2 'nothing-here' "$tool" read -e rdmascope.flow -T fields nothing-here.pcap
expect analysis-missing-file-is-told-once test "$(wc -l <"$work/out")" -eq 1
expect analysis-two-files-are-one-capture test "$("$tool" read -e rdmascope.flow -T fields $loss samples/rc-send.pcap.zst | sort -u | wc -l)" -ge 2
exit $status
