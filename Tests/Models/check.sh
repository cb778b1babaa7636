#!/usr/bin/env bash
# Checks the models with Spin: each holds as it stands, and fails with each of its mistakes (-D…).
set -euo pipefail
cd "$(dirname "$0")"
command -v spin >/dev/null || { echo "spin is not installed: the models were not checked"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# verify MODEL [-DMISTAKE]…: prints Spin's verdict; its status is 0 if no error was found.
verify() {
  local model=$PWD/$1
  shift
  (cd "$work" && rm -f pan* && spin -a "$@" "$model" >spin.log 2>&1 && ${CC:-cc} -O2 -DSAFETY -DCOLLAPSE -w -o pan pan.c) ||
    { cat "$work/spin.log"; exit 2; }
  (cd "$work" && ./pan -m1000000 >pan.log 2>&1) || { tail -5 "$work/pan.log"; exit 2; }
  if grep -q "too small\|out of memory\|truncated" "$work/pan.log"; then
    cat "$work/pan.log"
    exit 2
  fi
  grep -q "errors: 0" "$work/pan.log"
}

states() { sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$work/pan.log"; }

# holds MODEL WORLD: fails unless it does.
holds() {
  if ! verify "$1.pml" $2; then
    grep -m1 "pan:1" "$work/pan.log"
    echo "$1 $2: does not hold"
    exit 1
  fi
  echo "$1 $2: holds in $(states) states"
}

# fails MODEL MISTAKE: fails unless the mistake is found.
fails() {
  if verify "$1.pml" $2; then
    echo "$1 $2: the mistake was not found"
    exit 1
  fi
  echo "$1 $2: found, $(grep -m1 "pan:1" "$work/pan.log" | cut -c8-)"
}

for world in "" -DLATE -DBOTH -DTWO_POSTS "-DTWO_POSTERS -DSTEADY"; do holds announcements "$world"; done
for mistake in NO_SCAN NO_BARRIER LOOK_FIRST NO_SECOND_LOOK ONLY_PRESENT NO_ASKING NO_LOOK_AGAIN NO_SECOND_BARRIER \
  "ANY_POSTER -DTWO_POSTERS -DSTEADY" "EARLY_REPORT -DBOTH" NO_LOOK_BACK "PLAIN_TAKE -DLATE"; do
  fails announcements "-D$mistake"
done
