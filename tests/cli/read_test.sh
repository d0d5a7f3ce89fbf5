#!/usr/bin/env bash
# The read and decode commands as a shell user meets them: exit status, streams, pipes, bad input.
. "$(dirname "$0")/lib.sh"
captures=tests/golden/captures

check version 0 '^rdmascope [0-9]+\.[0-9]+' "$tool" --version
check help-names-the-commands 0 'read .*packets' "$tool" --help
check help-of-a-command 0 'display-filter FILTER' "$tool" read --help
check help-by-word 0 '^Usage: rdmascope read .*FILE' "$tool" help read
check no-command-shows-the-help 2 '^Usage: rdmascope' "$tool"
expect no-command-leaves-standard-output-empty test -z "$("$tool" 2>/dev/null)"
check unknown-command-is-usage 2 '^rdmascope: bogus: no such command; choose interfaces, capture, read, ' "$tool" bogus
check unknown-option-is-usage 2 '^rdmascope: --bogus: no such option' "$tool" read --bogus x
check missing-argument-is-usage 2 '^rdmascope: `rdmascope read` needs FILE' "$tool" read
check missing-value-is-usage 2 '^rdmascope: --count needs a value$' "$tool" read x -c
check count-is-a-number 2 '^rdmascope: --count = x is not a number$' "$tool" read x -c x
for command in read check stats rules decode fields completion man; do
  expect "help-of-$command-is-without-noise" test -z "$("$tool" $command --help | grep -E 'REQUIRED|\{false\}|INT in|help-all')"
done
check missing-file 2 'nothing-here.pcap' "$tool" read nothing-here.pcap
check directory 2 'samples' "$tool" read samples
check not-a-capture 2 'LICENSE' "$tool" read LICENSE
check good-files-are-read-beside-bad-ones 2 'CNP' "$tool" read nothing-here.pcap $captures/b02-cnp-0x81.pcap
check unknown-format 2 '^rdmascope: --format foo: no such form; choose text, json, ndjson, fields or csv$' "$tool" read -T foo x
check format-by-number 2 '^rdmascope: --format 4: no such form' "$tool" read -T 4 x
check unknown-form-of-time 2 '^rdmascope: --time x: no such form; choose r, a, ad, d, dd, e, u or ud$' "$tool" read -t x x
check unknown-file-format 2 '^rdmascope: --file-format erf: no such file format; choose pcapng or pcap$' "$tool" read -F erf x
check unknown-color-setting 2 '^rdmascope: --color blue: no such setting; choose auto, always or never$' "$tool" decode --color blue 00
check unknown-shell 2 '^rdmascope: SHELL tcsh: no such shell; choose bash, zsh or fish$' "$tool" completion tcsh
check field-typo-names-the-nearest 2 'infiniband\.bth\.psn' "$tool" read -T fields -e infiniband.bth.pns $captures/b02-cnp-0x81.pcap
check filter-typo-names-the-nearest 2 'infiniband\.bth\.psn' "$tool" read -Y 'infiniband.bth.pns == 1' $captures/b02-cnp-0x81.pcap
check filter-error-points-at-the-column 2 '^ +\^' "$tool" read -Y 'infiniband.bth.psn ==' $captures/b02-cnp-0x81.pcap
expect no-match-is-fine test "$("$tool" read -Y 'infiniband.bth.psn == 12345' $captures/b02-cnp-0x81.pcap && echo fine)" = fine
check fields-needs-a-field 2 '\-e' "$tool" read -T fields $captures/b02-cnp-0x81.pcap
check compressed-by-gzip 0 'CNP' "$tool" read <(gzip -c $captures/b02-cnp-0x81.pcap)
check decode-bare-hex 0 'PSN Sequence Error' "$tool" decode 020000000002020000000001080045020030000040004011b6b7c0000202c0000201c00012b7001c00001140ffff00000022000000056000000394abfff8
check decode-one-header 0 'Error Code: 0' "$tool" decode --as aeth 60000003
check decode-link-type 0 'RC Acknowledge' "$tool" decode -s --as INFINIBAND 00020004000700011140ffff0087040800d40a551f000001a80355503081
check decode-garbage 2 'xyz' "$tool" decode xyz
check decode-unknown-kind 2 'nonsense' "$tool" decode --as nonsense 60000003
check fields-prefix 0 'infiniband\.aeth\.msn' "$tool" fields infiniband.aeth
check fields-shared-name 0 '^ip\.addr +ipv4 +32 +ip\.src or ip\.dst$' "$tool" fields ip.a
check fields-whole-header 0 '^infiniband\.bth +bytes +96 ' "$tool" fields infiniband.bth
check fields-unknown-prefix 2 'did you mean infiniband\.aeth\?' "$tool" fields infinband.aeth
check fields-unknown-word 2 'did you mean infiniband\.bth\.psn\?' "$tool" fields pns

# A file cut in the middle: every whole packet, then one sentence on standard error.
"$tool" read -T fields -e frame.number $captures/b06-send-only-short.pcap >"$work/whole"
head -c 1000 $captures/b06-send-only-short.pcap >"$work/cut.pcap"
"$tool" read -T fields -e frame.number "$work/cut.pcap" >"$work/part" 2>"$work/error"
expect cut-file-exits-2 test $? -eq 2
expect cut-file-shows-the-whole-packets cmp -s "$work/part" <(head -n "$(wc -l <"$work/part")" "$work/whole")
expect cut-file-shows-packets test -s "$work/part"
expect cut-file-says-one-sentence test "$(wc -l <"$work/error")" -eq 1
expect cut-file-names-the-byte grep -qE 'byte [0-9]+' "$work/error"

# Standard input, a closed pipe, colours.
expect standard-input test "$("$tool" read - -T fields -e infiniband.bth.opcode <$captures/b02-cnp-0x81.pcap)" = 129
"$tool" read samples/rc-read-bw.pcap.zst 2>"$work/error" | head -n 1 >/dev/null
expect closed-pipe-is-quiet test "${PIPESTATUS[0]}" -eq 0
expect closed-pipe-says-nothing test ! -s "$work/error"
"$tool" read -c 1 samples/rc-read.pcap.zst >/dev/full 2>"$work/error"
expect full-disk-exits-2 test $? -eq 2
expect full-disk-is-said grep -q 'space' "$work/error"
expect no-color-in-a-pipe test "$("$tool" read $captures/b01-icrc-flipped.pcap | grep -c $'\033')" -eq 0
expect color-always test "$("$tool" read --color always $captures/b01-icrc-flipped.pcap | grep -c $'\033')" -gt 0

# Counting, and writing what is read.
expect count test "$("$tool" read -c 3 samples/rc-read.pcap.zst | wc -l)" -eq 3
"$tool" read samples/rc-read.pcap.zst -Y 'infiniband.bth.opcode == RC_RDMA_READ_REQUEST' -w "$work/requests.pcapng"
expect write-filtered test "$("$tool" read "$work/requests.pcapng" | wc -l)" -eq "$("$tool" read samples/rc-read.pcap.zst | grep -c 'Read Request')"
"$tool" read samples/rc-read.pcap.zst $captures/b16-link-type-247.pcap -w "$work/two.pcapng"
expect write-keeps-link-types test "$("$tool" read "$work/two.pcapng" -T fields -e frame.link_type | sort -u | tr '\n' ' ')" = "1 247 "
"$tool" read samples/rc-read.pcap.zst >"$work/a"
"$tool" read samples/rc-read.pcap.zst -w - | "$tool" read - >"$work/b"
expect write-to-a-pipe cmp -s "$work/a" "$work/b"
check write-over-the-input 2 'input' "$tool" read "$work/two.pcapng" -w "$work/two.pcapng"
check pcap-takes-one-link-type 2 'pcap' "$tool" read samples/rc-read.pcap.zst $captures/b16-link-type-247.pcap -F pcap -w "$work/one.pcap"

# JSON that a standard parser takes, without repeated keys, for every capture.
python3 - "$tool" tests/golden/captures/*.pcap* samples/*.zst >"$work/json" <<'PYTHON' || status=1
import json, subprocess, sys
def no_repeats(pairs):
    keys = [k for k, _ in pairs]
    if len(keys) != len(set(keys)):
        raise ValueError(f"repeated key in {keys}")
    return dict(pairs)
bad = 0
for capture in sys.argv[2:]:
    for form in ("json", "ndjson"):
        out = subprocess.run([sys.argv[1], "read", capture, "-T", form, "-x"], capture_output=True).stdout.decode()
        try:
            packets = json.loads(out, object_pairs_hook=no_repeats) if form == "json" else [
                json.loads(line, object_pairs_hook=no_repeats) for line in out.splitlines()]
            numbers = [p["frame"]["number"] for p in packets]
            if numbers != list(range(1, len(numbers) + 1)):
                raise ValueError("frame numbers")
        except ValueError as error:
            bad += 1
            print(f"FAIL cli/json: {capture} {form}: {error}")
if not bad:
    print("ok cli/json-parses-without-repeated-keys")
sys.exit(1 if bad else 0)
PYTHON
cat "$work/json"
exit $status
