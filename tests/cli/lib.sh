# What the command line tests share; sourced with the tool as $1. Lines: ok NAME, FAIL NAME: why.
set -u
tool=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# check NAME EXPECTED-STATUS EXPECTED-PATTERN COMMAND...: the pattern (extended regular expression) must occur in standard
# output and error together.
check() {
  local name=$1 expected_status=$2 pattern=$3 actual_status=0
  shift 3
  "$@" >"$work/out" 2>&1 </dev/null || actual_status=$?
  if [ "$actual_status" -ne "$expected_status" ]; then
    echo "FAIL cli/$name: exit status $actual_status, expected $expected_status"
    head -3 "$work/out"
    status=1
  elif ! grep -qE -- "$pattern" "$work/out"; then
    echo "FAIL cli/$name: no line matches: $pattern"
    head -3 "$work/out"
    status=1
  else
    echo "ok cli/$name"
  fi
}
expect() {  # NAME CONDITION...
  local name=$1
  shift
  if "$@"; then echo "ok cli/$name"; else echo "FAIL cli/$name: $*"; status=1; fi
}
