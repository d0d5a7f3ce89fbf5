#!/usr/bin/env bash
# Installs the given build into an empty folder and runs what is there.
set -u
cd "$(dirname "$0")/../.."
target=$(mktemp -d)
trap 'rm -rf "$target"' EXIT
status=0
expect() {
  local name=$1
  shift
  if "$@"; then echo "ok install/$name"; else echo "FAIL install/$name: $*"; status=1; fi
}
cmake --install "$1" --prefix "$target" >"$target/log" 2>&1 || { echo "FAIL install: cmake --install"; cat "$target/log"; exit 1; }
expect runs test "$("$target/bin/rdmascope" read -c 1 "$target"/share/rdmascope/samples/rc-read.pcap.zst | wc -l)" -eq 1
expect finds-its-suite test "$(cd / && "$target/bin/rdmascope" test --list | grep -c '^C09-060-05 ')" -eq 1
if [ -x "$1/gui/rdmascope-gui" ]; then
  expect desktop-program-runs env QT_QPA_PLATFORM=offscreen ASAN_OPTIONS=detect_leaks=0 "$target/bin/rdmascope-gui" --version
  expect rdmascope.desktop test -s "$target/share/applications/rdmascope.desktop"
fi
if [ -d "$1/plugins/wireshark" ]; then
  plugin=$(find "$target" -path '*/wireshark/plugins/*/epan/rdmascope.so')
  extcap=$(find "$target" -path '*/wireshark/extcap/rdmascope-extcap')
  expect wireshark-plugin test -s "$plugin"
  expect extcap-runs sh -c '"$1" --extcap-interfaces | grep -q "^interface {value=rdmascope-"' sh "$extcap"
  expect wireshark-profile test -s "$target/share/wireshark/profiles/rdmascope/colorfilters"
fi
for file in share/man/man1/rdmascope.1 share/bash-completion/completions/rdmascope share/doc/rdmascope/README.md share/doc/rdmascope/LICENSE; do
  expect "$(basename "$file")" test -s "$target/$file"
done
exit $status
