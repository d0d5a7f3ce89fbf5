#!/usr/bin/env bash
# Runs every *_test.sh beside this file with the tool as its argument, as many at once as there are processors. Lines: ok
# NAME, FAIL NAME: why; those of one file come together.
set -u
cd "$(dirname "$0")/../.."
export tool=$1
printf '%s\n' tests/cli/*_test.sh | xargs -P "$(nproc)" -I FILE bash -c 'said=$(bash FILE "$tool" 2>&1); status=$?; echo "$said"; exit $status'
