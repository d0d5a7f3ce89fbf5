#!/usr/bin/env bash
# Runs every *_test.sh beside this file with the tool as its argument. Lines: ok NAME, FAIL NAME: why.
set -u
cd "$(dirname "$0")/../.."
status=0
for test in tests/cli/*_test.sh; do bash "$test" "$1" || status=1; done
exit $status
