#!/usr/bin/env bash
# What the completion scripts and the manual page offer: completion_test.sh PROGRAM
# Runs the bash script as bash would; zsh and fish are asked only where they are installed.
set -u
tool=$(readlink -f "${1:?usage: completion_test.sh PROGRAM}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

# NAME EXPECTED ACTUAL
same() {
  if [ "$2" = "$3" ]; then
    echo "ok $1"
  else
    printf 'FAIL %s\n  expected: %s\n  actual:   %s\n' "$1" "$2" "$3"
    status=1
  fi
}

"$tool" completion bash >"$scratch/rdmascope.bash" || exit 1
source "$scratch/rdmascope.bash" || exit 1
compopt() { asked+=" $*"; } # the real one works only while a key is pressed

# What <TAB> behind these words offers, sorted, and the options it asks of bash.
offered() {
  COMP_WORDS=("$tool" "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  asked=
  _rdmascope
  { printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | tr '\n' ' '; echo "$asked"; } | sed 's/^ *//; s/ *$//; s/  */ /g'
}

same "commands" "capture check completion decode dut extcap fields interfaces man read replay rules script-from stats test" "$(offered '')"
same "a command that is begun" "read replay" "$(offered re)"
same "options of the tool" "--help --help-all --version -h" "$(offered -)"
same "options of a command" "--rd-is-dc --read-file --roce-port" "$(offered read --r)"
same "a hidden option is not offered" "" "$(offered read -n)"
same "formats" "csv fields json ndjson text" "$(offered read -T '')"
same "a format that is begun" "json" "$(offered read -T j)"
same "a format behind =" "ndjson" "$(offered read --format = nd)"
same "an empty format behind =" "json text" "$(offered fields --format =)"
same "formats of another command" "json ndjson text" "$(offered decode -T '')"
same "forms of time" "a ad" "$(offered read -t a)"
same "colours" "always auto never" "$(offered read --color '')"
same "fields" "infiniband.bth.p_key infiniband.bth.padcnt infiniband.bth.psn" "$(offered read -T fields -e infiniband.bth.p)"
same "a shared name" "ip.addr" "$(offered read -Y ip.a | sed 's/ -o nospace//')"
same "a whole header" "infiniband.reth" "$(offered read -e infiniband.ret | tr ' ' '\n' | head -1)"
same "the argument of fields" "infiniband.aeth.msn" "$(offered fields infiniband.aeth.m)"
same "a filter" "infiniband.bth.psn -o nospace" "$(offered read -Y infiniband.bth.ps)"
same "a filter in open quotes" "frame.number > 5 and not infiniband.bth.psn -o nospace" \
  "$(offered read -Y "'frame.number > 5 and not infiniband.bth.ps")"
same "a filter inside parentheses" "(infiniband.bth.psn -o nospace" "$(offered read -Y '"(infiniband.bth.ps')"
same "where a value starts no field is offered" "-o nospace" "$(offered read -Y "'frame.number == ")"
same "kinds of bytes" "infiniband.aeth" "$(offered decode --as infiniband.ae)"
same "link types" "ETHERNET" "$(offered decode --as ETH)"
same "rules" "U-01 U-02 U-03 U-04" "$(offered check --rule U-)"
same "the argument of rules" "F-10 F-11 F-12 F-13 F-14 F-15 F-16 F-18 F-19" "$(offered rules F-1)"
same "subjects of stats" "latency -o default" "$(offered stats la)"
same "files of stats" "-o default" "$(offered stats samples/)"
same "files to check" "-o default" "$(offered check samples/)"
same "files to read" "-o default" "$(offered read samples/)"
same "files by option" "-o default" "$(offered read -r '')"
same "a number offers nothing" "" "$(offered read -c '')"
same "shells" "bash fish zsh" "$(offered completion '')"

# Every visible long option of every command is in all three scripts and in the manual page.
"$tool" completion zsh >"$scratch/_rdmascope"
"$tool" completion fish >"$scratch/rdmascope.fish"
"$tool" man >"$scratch/rdmascope.1"
missing=
for command in read check stats rules replay test dut decode fields; do
  for option in $("$tool" "$command" --help | grep -oE '^  (-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
    name=${option#--} page=${option//-/\\-}
    grep -q -- "$option" "$scratch/rdmascope.bash" && grep -q -- "$option" "$scratch/_rdmascope" &&
      grep -q -- "seen_subcommand_from $command.* -l $name " "$scratch/rdmascope.fish" &&
      { [ "${name%-all}" = help ] || grep -qF -- "$page" "$scratch/rdmascope.1"; } ||
      missing+=" $command $option"
  done
done
same "every option is in all scripts and in the manual page" "" "$missing"
same "sections of the manual page" "NAME SYNOPSIS DESCRIPTION OPTIONS COMMANDS EXIT STATUS ENVIRONMENT EXAMPLES SEE ALSO" \
  "$(sed -n 's/^\.SH //p' "$scratch/rdmascope.1" | tr '\n' ' ' | sed 's/ $//')"
same "a shell that is not known" "2" "$("$tool" completion tcsh >/dev/null 2>&1; echo $?)"

if command -v mandoc >/dev/null; then
  same "mandoc on the manual page" "" "$(mandoc -Tlint -Wwarning "$scratch/rdmascope.1" | grep -v 'missing date')"
fi
if command -v zsh >/dev/null; then
  same "zsh reads its script" "" "$(zsh -n "$scratch/_rdmascope" 2>&1)"
fi
if command -v fish >/dev/null; then
  in_fish() { # WORDS: what fish offers, without descriptions
    HOME=$scratch PATH=$(dirname "$tool"):$PATH fish -c "source $scratch/rdmascope.fish; complete -C \"$1\"" | cut -f1 |
      LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//'
  }
  same "fish: formats" "csv fields json ndjson text" "$(in_fish 'rdmascope read -T ')"
  if [ "$(basename "$tool")" = rdmascope ]; then
    same "fish: fields" "infiniband.bth.p_key infiniband.bth.padcnt infiniband.bth.psn" \
      "$(in_fish 'rdmascope read -e infiniband.bth.p')"
  fi
fi
exit $status
