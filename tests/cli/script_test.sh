#!/usr/bin/env bash
# rdmascope test: choosing scripts, verdicts, forms, exit status, recording. Against the model in memory.
cd "$(dirname "$0")/../.."
. tests/cli/lib.sh

cat >"$work/good.lua" <<'LUA'
test { id = "G-1", title = "good & well", covers = { "C-01" } }
local rc = open_rc { dut_psn = 0xfffffe }
local data = pattern(600)
rc.dut:post_read { length = #data }
expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0) }
rc:respond_read { psn = rc.psn(0), data = data }
rc.dut:expect_completion { data = data }
print("all is", "well")
rc:close { flushed = 0 }
LUA
sed 's/G-1/B_2/; s/psn = rc.psn(0) }$/psn = rc.psn(3) }/' "$work/good.lua" >"$work/bad.lua"
echo 'test { id = "E-3", title = "wrong" } expct {}' >"$work/wrong.lua"
echo 'test { id = "N-4", title = "needs", needs = { initiator_depth = 255 } }' >"$work/needs.lua"
cat >"$work/parts.lua" <<'LUA'
test { id = "P-5", title = "parts" }
sub("one", function() end)
sub("two", function() skip("not today") end)
LUA

check passes 0 '^ok    G-1 +good & well$' "$tool" test "$work/good.lua"
check summary 0 '^1 test: 1 passed$' "$tool" test "$work/good.lua"
check fails 1 '^FAIL  B_2' "$tool" test "$work/bad.lua"
check mismatch 1 'bad.lua:5: infiniband.bth.psn: expected S\+3 \(0x000001\), got S\+0 \(0xfffffe\)' "$tool" test "$work/bad.lua"
check the-packet-at-fault 1 'got frame 1: RC_RDMA_READ_REQUEST S\+0 VA' "$tool" test "$work/bad.lua"
check error 2 'ERROR E-3' "$tool" test "$work/wrong.lua"
check error-sentence 2 'wrong.lua:1: no such name in this script: expct' "$tool" test "$work/wrong.lua"
check not-applicable 0 'n/a   N-4' "$tool" test "$work/needs.lua"
check parts 0 '^skip  P-5/two' "$tool" test "$work/parts.lua"
check folder 2 '^6 tests: 2 passed, 1 failed, 1 error, 1 not applicable, 1 skipped$' "$tool" test "$work"
check filter 0 '^1 test: 1 passed$' "$tool" test "$work" --filter 'g*'
check filter-of-parts 0 '^1 test: 1 passed$' "$tool" test "$work" --filter 'p-5/ONE'
check filter-fits-nothing 2 'no id fits zzz' "$tool" test "$work" --filter zzz
check no-such-script 2 'cannot read nowhere.lua: no such file' "$tool" test nowhere.lua
check no-such-id 2 'no such script, folder, area of the suite or id: C77' "$tool" test C77
check id-with-underscores 0 '^ok    C09-060-05/PSNs wrap' "$tool" test C09_060_05
check id-in-lower-case 0 '^ok    C09-060-05-N1' "$tool" test c09-060-05-n1
check ids-that-begin-so 0 '^C09-060-05-N12 ' "$tool" test C09-060-05 --list
for mutant in complete-early complete-out-of-order ignore-missing-middle accept-bad-icrc accept-repeated-psn; do
  check "C09-060-05-catches-$mutant" 1 '^FAIL  C09-060-05' "$tool" test C09-060-05 --dut "model:mutant=$mutant"
done
check a-part-by-id 0 '^1 test: 1 passed' "$tool" test 'c09-060-05/psns wrap'
check area 0 'C09-060-05-N1' "$tool" test transport --filter 'c09-060-05-n1'
check list 0 '^C09-060-05 +A READ completes after its Last response  \(transport/c09_060_05.lua\)$' "$tool" test --list
check list-mutants 0 '^read-takes-one-psn +Q-02' "$tool" test --list-mutants
check mutant 1 'expected S\+3 .*, got S\+1' "$tool" test C09-060-05 --dut model:mutant=read-takes-one-psn
check mutant-behind-a-comma 1 '^6 tests: 6 failed$' "$tool" test Q-13-timer --dut model,mutant=timer-too-early
check no-such-mutant 2 'no such mutant' "$tool" test --dut model:mutant=x
check roce-v1 0 '^5?[0-9]+ tests: [0-9]+ passed$' "$tool" test C09-060 --roce v1
check roce-v1-has-no-udp 2 'roce v1 has no UDP: go over --wire eth' "$tool" test --roce v1 --wire udp
check nobody-takes-orders 0 '^n/a   C09-060-05' "$tool" test C09-060-05 --dut none:127.0.0.1,0x11 --wire udp
check nobody-on-ethernet-has-a-mac 2 'also say where frames go' "$tool" test --dut none:10.0.0.1,0x11 --wire eth:lo
check nobody-written-wrongly 2 'write none:ADDRESS,QP' "$tool" test --dut none:10.0.0.1,0x11,zz --wire eth:lo
check no-such-dut 2 'no such device' "$tool" test --dut x

printf -- '# What it does\n\nprose\n- `E-9`, `b-2`: counts PSNs its own way\n' >"$work/known.md"
check known-deviation 0 '^known B_2' "$tool" test "$work/bad.lua" --known "$work/known.md"
check known-deviation-says-why 0 'known: counts PSNs its own way' "$tool" test "$work/bad.lua" --known "$work/known.md"
check known-deviation-counts 0 '^1 test: 1 known deviation$' "$tool" test "$work/bad.lua" --known "$work/known.md"
check known-deviation-in-tap 0 '^not ok 1 - B_2 good & well # TODO known deviation$' "$tool" test "$work/bad.lua" --known "$work/known.md" -T tap
check known-deviation-in-json 0 '"failed":0,"errors":0,"known_deviations":1' "$tool" test "$work/bad.lua" --known "$work/known.md" -T json
check unknown-deviation 1 '^FAIL  B_2' "$tool" test "$work/bad.lua" --known <(echo '`E-9`')
check known-parts 0 '^known C09-060-05-N1' "$tool" test C09-060-05-N1 --dut model:mutant=complete-early --known <(echo '- `C09-060-05-N1*`')
echo '- `G-1`: no more' >"$work/stale.md"
check known-but-passed 0 'note: listed in .*stale.md, but passed: G-1' "$tool" test "$work/good.lua" --known "$work/stale.md"
check known-empty 2 'lists no deviation' "$tool" test "$work/good.lua" --known <(echo prose)
check known-missing 2 'nowhere.md: cannot open: No such file' "$tool" test "$work/good.lua" --known nowhere.md

check repeat 0 '^3 tests: 3 passed' "$tool" test "$work/good.lua" --repeat 3
check steps 0 'tester -> DUT  RC_RDMA_READ_RESPONSE_FIRST S\+0' "$tool" test "$work/good.lua" --steps
check printed 0 'print +all is well' "$tool" test "$work/good.lua" --steps
LC_ALL=C check diagram 0 '\|<-+ RC_RDMA_READ_REQUEST S\+0 .*-\|  5$' "$tool" test "$work/good.lua" -V
LC_ALL=C check diagram-answer 0 '\|-+ RC_RDMA_READ_RESPONSE_LAST S\+2 .*->\|  6$' "$tool" test "$work/good.lua" -V

"$tool" test "$work" -T tap >"$work/tap" 2>&1
expect tap-version grep -q '^TAP version 13$' "$work/tap"
expect tap-plan grep -q '^1\.\.6$' "$work/tap"
expect tap-failure grep -q '^not ok 1 - B_2 good & well$' "$work/tap"
expect tap-message grep -q '^  message: "bad.lua:5: infiniband' "$work/tap"
expect tap-skip grep -q '# SKIP not applicable: needs.lua:1: needs initiator depth 255' "$work/tap"
"$tool" test "$work" -T junit >"$work/junit.xml" 2>&1
expect junit-reads python3 -c "
import sys, xml.etree.ElementTree as t
r = t.parse('$work/junit.xml').getroot()
s = r.find('testsuite')
cases = s.findall('testcase')
assert r.get('tests') == s.get('tests') == '6' == str(len(cases)), r.attrib
assert r.get('failures') == '1' and r.get('errors') == '1' and s.get('skipped') == '2'
assert 'expected S+3' in s.find('testcase/failure').get('message')
"
"$tool" test "$work" -T json >"$work/out.json" 2>&1
expect json-reads python3 -c "
import json
r = json.load(open('$work/out.json'))
assert r['passed'] == 2 and r['failed'] == 1 and r['errors'] == 1 and r['not_applicable'] == 1 and r['skipped'] == 1
good = [t for t in r['tests'] if t['id'] == 'G-1'][0]
assert good['verdict'] == 'passed' and good['covers'] == ['C-01'] and good['steps'][0]['kind'] == 'note'
"
"$tool" test "$work/good.lua" -T json >"$work/1" && "$tool" test "$work/good.lua" -T json >"$work/2"
expect two-runs-are-equal cmp -s "$work/1" "$work/2"

# Reports in files, and what happens as it happens.
"$tool" test "$work" --report "$work/r.xml" --report "$work/r.json" --report "$work/r.html" --report "$work/r.tap" --report "$work/r.txt" >"$work/r.out" 2>&1
expect report-files-are-the-forms sh -c "cmp -s '$work/r.xml' '$work/junit.xml' && cmp -s '$work/r.json' '$work/out.json' && cmp -s '$work/r.tap' '$work/tap'"
expect report-page-says-what-failed grep -q 'class="failed" open><summary>failed <b>B_2</b> good &amp; well' "$work/r.html"
expect report-page-is-whole python3 -c "
import html.parser
opened = []
class P(html.parser.HTMLParser):
  def handle_starttag(self, tag, attrs): opened.append(tag) if tag not in ('meta', 'br') else None
  def handle_endtag(self, tag): assert opened.pop() == tag, tag
P().feed(open('$work/r.html').read())
assert opened == [], opened
"
check report-ending-is-refused 2 '^rdmascope: --report .*r.doc: its ending says no form; choose .txt, ' "$tool" test "$work/good.lua" --report "$work/r.doc"
check report-cannot-be-written 2 '^rdmascope: --report: cannot write /no/r.xml: No such file' "$tool" test "$work/good.lua" --report /no/r.xml
"$tool" test "$work/good.lua" -T ndjson >"$work/ndjson" 2>&1
expect ndjson-tells-as-it-happens python3 -c "
import json
lines = [json.loads(line) for line in open('$work/ndjson')]
assert lines[0]['begins']['id'] == 'G-1' and lines[0]['begins']['script'].endswith('good.lua'), lines[0]
heard = [l['event'] for l in lines if 'event' in l]
verdict = [l['verdict'] for l in lines if 'verdict' in l]
assert len(verdict) == 1 and verdict[0]['verdict'] == 'passed' and [e['text'] for e in verdict[0]['steps']] == [e['text'] for e in heard]
assert lines[-1] == {'summary': '1 test: 1 passed'}, lines[-1]
"
"$tool" test C09-060 --list -T json >"$work/list.json"
expect list-in-json python3 -c "
import json, os
scripts = json.load(open('$work/list.json'))
assert scripts and all(s['id'].startswith('C09-060') and os.path.isfile(s['file']) and s['covers'] for s in scripts), scripts
"
check script-of-the-suite-alone 0 '4 tests: 4 passed' "$tool" test transport/c09_060_05.lua
check script-that-is-not-there 2 '^rdmascope: cannot read transport/no.lua: no such file' "$tool" test transport/no.lua
"$tool" test --list-mutants -T json >"$work/mutants.json"
expect list-mutants-in-json python3 -c "
import json
mutants = json.load(open('$work/mutants.json'))
assert {m['model'] for m in mutants} == {'queue pairs', 'node', 'cdi'} and len(mutants) > 200, len(mutants)
"

check record 0 '1 passed' "$tool" test "$work/good.lua" --record "$work/record.pcapng"
check record-holds-every-packet 0 '^4$' sh -c "'$tool' read '$work/record.pcapng' -Y infiniband.bth | wc -l"
check record-says-the-step 0 'good.lua:5 expect RC_RDMA_READ_REQUEST' "$tool" read "$work/record.pcapng" -V
check record-is-clean 0 'no violation' "$tool" check "$work/record.pcapng"
check record-holds-completions 0 'CQE +[0-9]+ CQ 0x000001 QP 0x[0-9a-f]+ send RDMA_READ 600 bytes' "$tool" read "$work/record.pcapng"
check record-says-what-completed 0 'good.lua:7 READ completes: success, 600 bytes' "$tool" read "$work/record.pcapng" -V
check record-shows-an-early-completion 1 'CQE-23 +A READ completes after' sh -c "
  '$tool' test C09-060-05 --dut model:mutant=complete-early --record '$work/early.pcapng' >/dev/null
  '$tool' check '$work/early.pcapng'"
check record-of-the-suite-breaks-no-completion-rule 0 '^no completion rule$' sh -c "
  '$tool' test --record '$work/suite.pcapng' >/dev/null
  '$tool' check '$work/suite.pcapng' -T json | grep -q '\"CQE-[0-9]*\",\"class\":\"violation' || echo no completion rule"
check record-replays-without-completions 0 '4 packets' "$tool" replay "$work/record.pcapng" --dry-run --to 127.0.0.1
exit $status
