#!/usr/bin/env bash
# check, stats and rules as a shell user meets them: exit status, streams, options, wrong words.
. "$(dirname "$0")/lib.sh"
clean=samples/cm-rping.pcap.zst
one=tests/golden/captures/b20-one-queue-pair.pcap

# A capture that breaks one rule once: TVer 1 in the fifth packet, CRC made right again by the mutant tool.
cat >"$work/mutants_here.py" <<'PYTHON'
MUTANTS = [{"rule": "F-06", "base": "samples/cm-rping.pcap.zst",
            "edits": [{"frame": 5, "field": "infiniband.bth.tver", "value": 1}],
            "fires": [{"frame": 5, "field": "infiniband.bth.tver", "expected": 0, "actual": 1}]}]
PYTHON
python3 tests/check/mutate.py "$tool" --keep "$work" --mutants "$work/mutants_here.py" F-06 >/dev/null
broken=$work/mutants_F-06.pcap
expect check-mutant-was-made test -s "$broken"

check check-clean 0 '^Clean: no violation and no anomaly in 110 RDMA packets on 1 connection\.$' "$tool" check samples/rc-send.pcap.zst
check check-remark-is-clean 0 '^Clean: no violation in 65 RDMA packets on 3 connections and in 5 management datagrams; 1 remark\.$' "$tool" check $clean
check check-not-healthy 0 '^No violation in .*, but not healthy: .*H-LOSS' "$tool" check samples/loss-read.pcap.zst
check check-broken 1 '^VIOLATIONS: 1 rule was broken, once; first in frame 5 \(F-06, ' "$tool" check "$broken"
check check-names-field-expected-actual 1 'frame 5, from 10\.77\.0\.2: infiniband\.bth\.tver: expected 0, got 1' "$tool" check "$broken"
check check-shows-how-ends-were-paired 0 '10\.77\.0\.1 0x00001a <-> 10\.77\.0\.2 0x00001a +RC +4096 +CM ' "$tool" check $clean
check check-takes-only-rule 0 '^Clean' "$tool" check --rule Q-01 "$broken"
check check-rule-in-lower-case 1 'F-06' "$tool" check --rule f-06,q-01 "$broken"
check check-ignores-rule 0 '^Clean' "$tool" check --ignore F-01,F-06 "$broken"
check check-rule-typo-names-the-nearest 2 '^rdmascope: --rule F-66: no such rule, did you mean F-06\?' "$tool" check --rule F-66 "$broken"
check check-ignore-typo 2 '^rdmascope: --ignore nonsense: no such rule; ' "$tool" check --ignore nonsense "$broken"
check check-no-rule-left 2 'no rule to judge by' "$tool" check --rule F-06 --ignore F-06 "$broken"
check check-filter-leaves-it-out 0 'Clean.* 1 connection' "$tool" check -Y 'infiniband.bth.opcode == RC_SEND_ONLY and ip.src == 10.77.0.1' "$broken"
check check-filter-error 2 'cannot use the display filter' "$tool" check -Y 'infiniband.bth.psn ==' "$broken"
check check-time-before-it 0 '^4 frames' "$tool" check --to 0.017 "$broken"
check check-time-from-it 1 '^VIOLATIONS' "$tool" check --from 0.0171 "$broken"
check check-time-in-utc 1 '^62 frames' "$tool" check --from 2026-11-29T21:26:28.3684 "$broken"
check check-time-is-no-time 2 '^rdmascope: --from soon: give it in seconds' "$tool" check --from soon "$broken"
check check-date-is-no-date 2 '^rdmascope: --to 2026-13-01: give it' "$tool" check --to 2026-13-01 "$broken"
check check-pair 0 ' user ' "$tool" check --pair 10.0.0.1,0x11=10.0.0.2,0x22 $one
check check-pair-is-no-pair 2 '^rdmascope: --pair nonsense: give it as ADDRESS,QP' "$tool" check --pair nonsense $one
check check-workers-is-a-number 2 'workers' "$tool" check --workers 0 $one
check check-unknown-form 2 'no such form; choose text, json or junit' "$tool" check -T xml $one
check check-no-rdma 0 '^Nothing to judge: no RDMA packet in 65 frames' "$tool" check -Y 'frame.number == 0' $clean
check check-missing-file 2 'nothing-here.pcap' "$tool" check nothing-here.pcap
expect check-of-nothing-says-nothing test -z "$("$tool" check nothing-here.pcap 2>/dev/null)"
check check-good-files-beside-bad-ones 2 '^VIOLATIONS' "$tool" check nothing-here.pcap "$broken"
head -c 2000 "$broken" >"$work/cut.pcap"
check check-damaged-file-is-judged-and-said 2 'byte [0-9]+' "$tool" check "$work/cut.pcap"
expect check-standard-input test "$("$tool" check - <"$broken" | tail -1)" = "$("$tool" check "$broken" | tail -1)"
expect check-two-files-are-one-capture test "$("$tool" check $clean "$broken" -T json | python3 -c 'import json,sys; print(json.load(sys.stdin)["totals"]["frames"])')" = 130
expect check-no-color-in-a-pipe test "$("$tool" check "$broken" | grep -c $'\033')" -eq 0
expect check-color-always test "$("$tool" check --color always "$broken" | grep -c $'\033')" -gt 0
expect check-data-only-on-standard-output test -z "$("$tool" check "$broken" 2>&1 >/dev/null)"
"$tool" check "$broken" >/dev/full 2>"$work/error"
expect check-full-disk-exits-2 test $? -eq 2
"$tool" check "$broken" | head -n 1 >/dev/null
expect check-closed-pipe-is-quiet test "${PIPESTATUS[0]}" -eq 1

# More connections than are kept: a SEND to another queue pair in each of 200,010 packets.
python3 - "$work/crowd.pcap" <<'PYTHON'
import struct, sys
ip = bytes.fromhex("4500003400004000401126b70a0000010a000002")
with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for n in range(200_010):
        bth = struct.pack(">BBHII", 0x04, 0, 0xffff, 0x100 + n, 1)
        frame = bytes(12) + b"\x08\x00" + ip + struct.pack(">HHHH", 0xc000, 4791, 32, 0) + bth + bytes(8)
        out.write(struct.pack("<IIII", n, 0, len(frame), len(frame) + 4) + frame)  # cut before the ICRC
PYTHON
check check-says-what-is-beyond-the-limit 0 '^Not judged: .*10 packets of connections beyond the limit' "$tool" check --workers 1 "$work/crowd.pcap"

# JSON and JUnit.
for capture in $clean "$broken" samples/loss-read.pcap.zst samples/corrupt-write.pcap.zst samples/rc-read-v6.pcap.zst; do
  name=$(basename "$capture")
  "$tool" check -T json "$capture" >"$work/json"
  expect "check-json-$name" python3 - "$work/json" <<'PYTHON'
import json, sys
def no_repeats(pairs):
    keys = [k for k, _ in pairs]
    assert len(keys) == len(set(keys)), keys
    return dict(pairs)
report = json.load(open(sys.argv[1]), object_pairs_hook=no_repeats)
findings, totals = report["findings"], report["totals"]
for key, one in (("violations", "violation"), ("anomalies", "anomaly"), ("artifacts", "artifact")):
    assert totals[key] == sum(f["class"] == one for f in findings), key
assert sum(r["count"] for r in report["rules"]) == len(findings)
assert totals["connections"] == len(report["connections"])
assert totals["rdma"] == totals["icrc_good"] + totals["icrc_bad"] + totals["icrc_unverified"]
frames = [f["frame"] for f in findings if "frame" in f]
assert all(1 <= n <= totals["frames"] for n in frames)
PYTHON
  "$tool" check -T junit "$capture" >"$work/junit"
  expect "check-junit-$name" python3 tests/check/junit.py <"$work/junit"
done
expect check-junit-fails-where-violated test "$("$tool" check -T junit "$broken" | grep -c '<failure ')" -eq 1
expect check-junit-has-a-case-per-rule test "$("$tool" check -T junit "$broken" | grep -c '<testcase ')" -eq "$("$tool" rules | wc -l)"
printf '%s' '<testsuites tests="1"><testsuite name="x" tests="2"><testcase name="a"/></testsuite></testsuites>' >"$work/wrong"
expect junit-check-can-fail test "$(python3 tests/check/junit.py <"$work/wrong" | wc -l)" -ge 3

# rules
check rules-lists 0 '^F-06 +violation +error +' "$tool" rules
check rules-page 0 '^Class +violation' "$tool" rules f-06
check rules-page-helps 0 '^Look next at' "$tool" rules Q-06
check rules-typo 2 '^rdmascope: F-66: no such rule, did you mean F-06\?' "$tool" rules F-66
expect rules-json python3 -c '
import json, subprocess, sys
rules = json.loads(subprocess.run([sys.argv[1], "rules", "-T", "json"], capture_output=True, check=True).stdout)
assert rules and all(r["class"] in ("violation", "anomaly", "artifact") and r["severity"] in ("error", "warning", "info")
                     and r["title"] and r["help"] and r["source"] for r in rules)
assert not any(".md" in r[key] for r in rules for key in ("source", "help"))  # nothing a reader cannot open
assert len({r["id"] for r in rules}) == len(rules)' "$tool"
for id in $("$tool" rules | cut -d ' ' -f 1); do
  "$tool" rules "$id" >"$work/page" || { echo "FAIL cli/rules-page-$id"; status=1; }
done

# stats
check stats-flows 0 'RC +10\.77\.0\.1 +0x00001a +10\.77\.0\.2 +0x00001a +4096 +30 ' "$tool" stats $clean
check stats-subject-first 0 'RC RDMA Read Request' "$tool" stats opcodes $clean
check stats-subject-last 0 'RC RDMA Read Request' "$tool" stats $clean opcodes
check stats-unknown-subject 2 'bogus' "$tool" stats $clean bogus
check stats-latency 0 '^READ +5 +40\.000 +42\.000 +79\.000 +79\.000 +79\.000$' "$tool" stats $clean latency
check stats-no-messages 0 'no message of a reliable connection' "$tool" stats samples/ud-send.pcap.zst latency
check stats-extract-needs-messages 2 'goes with .rdmascope stats FILE messages' "$tool" stats $clean flows --extract 1
check stats-extract-too-far 2 'the capture has 30 messages' "$tool" stats $clean messages --extract 31
check stats-extract-not-from-a-pipe 2 'twice' "$tool" stats - messages --extract 1
check stats-extract-atomic 2 'no payload' "$tool" stats samples/rc-fadd.pcap.zst messages --extract 1
check stats-extract-incomplete 2 'is not in the capture' "$tool" stats samples/rc-read-bw.pcap.zst messages --extract 19
expect stats-messages-number-the-rows test "$("$tool" stats $clean messages -T csv | cut -d , -f 1 | tail -1)" = 30
expect stats-json python3 -c '
import csv, json, subprocess, sys
for subject in ("flows", "messages", "opcodes"):
    out = {form: subprocess.run([sys.argv[1], "stats", subject, "-T", form, sys.argv[2]], capture_output=True, check=True,
                                text=True).stdout for form in ("json", "csv")}
    rows, lines = json.loads(out["json"]), list(csv.DictReader(out["csv"].splitlines()))
    assert len(rows) == len(lines) > 0, subject
    for row, line in zip(rows, lines):
        assert set(row) <= set(line), subject
        assert {k for k, v in line.items() if v} == set(row), subject
json.loads(subprocess.run([sys.argv[1], "stats", "latency", "-T", "json", sys.argv[2]], capture_output=True, check=True).stdout)
' "$tool" $clean

# A READ, a WRITE and a SEND rebuilt, against the payload that read shows.
payload() { "$tool" read "$1" -Y "$2" -T fields -e infiniband.payload.data | tr -d '\n'; }
extracted() { "$tool" stats "$1" messages --extract "$2" | od -An -v -tx1 | tr -d ' \n'; }
expect stats-extract-read test "$(extracted samples/rc-read-bw.pcap.zst 2)" = "$(payload samples/rc-read-bw.pcap.zst 'frame.number > 66 and frame.number <= 130')"
expect stats-extract-write test "$(extracted samples/rc-write.pcap.zst 1)" = "$(payload samples/rc-write.pcap.zst 'frame.number in {3..5}')"
expect stats-extract-send test "$(extracted samples/rc-send.pcap.zst 1)" = "$(payload samples/rc-send.pcap.zst 'frame.number in {1..10}')"
"$tool" stats samples/rc-send.pcap.zst messages --extract 1 -o "$work/message" 2>/dev/null
expect stats-extract-to-a-file test "$(wc -c <"$work/message")" -eq 5000

# Ctrl-C while standard input stalls: one is enough, and what was read until then is judged. "ahead" is how much came.
cat >"$work/interrupt.py" <<'PYTHON'
import signal, subprocess, sys, time
tool, capture, ahead, *command = sys.argv[1:]
data = open(capture, "rb").read()[:int(ahead)]
process = subprocess.Popen([tool, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
process.stdin.write(data)
process.stdin.flush()
time.sleep(0.5)  # it has read all there is, and waits
process.send_signal(signal.SIGINT)
try:
    print(process.wait(20), "exit status")
except subprocess.TimeoutExpired:
    process.kill()
    print("it took no notice")
print(process.stdout.read().decode(errors="replace"), process.stderr.read().decode())
PYTHON
"$tool" read $clean -F pcap -w "$work/clean.pcap"
check check-interrupted-between-frames 0 '^0 exit status$' python3 "$work/interrupt.py" "$tool" "$work/clean.pcap" 1000000 check -
check check-interrupted-says-the-verdict 0 '^Clean: .* 65 RDMA packets' python3 "$work/interrupt.py" "$tool" "$work/clean.pcap" 1000000 check -
check check-interrupted-inside-a-frame 0 '^1 exit status$' python3 "$work/interrupt.py" "$tool" "$broken" 5000 check -
check check-interrupted-before-any-frame 0 '^0 exit status$' python3 "$work/interrupt.py" "$tool" "$work/clean.pcap" 3 check -
check check-interrupted-when-packed 0 '^0 exit status$' python3 "$work/interrupt.py" "$tool" $clean 1000 check -
check stats-interrupted 0 '^0 exit status$' python3 "$work/interrupt.py" "$tool" "$work/clean.pcap" 1000000 stats -
check read-interrupted-completes-the-file 0 '^0 exit status$' python3 "$work/interrupt.py" "$tool" "$work/clean.pcap" 5000 read - -w "$work/interrupted.pcapng"
check read-interrupted-wrote-whole-frames 0 '^[1-9]' "$tool" read "$work/interrupted.pcapng" -T fields -e frame.number

exit $status
