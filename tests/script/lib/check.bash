# SPDX-License-Identifier: Apache-2.0
# What the script tests share. Each runs with $root (the project) and ends at the first failure.
set -euo pipefail
export LC_ALL=C
sinter=$root/sinter
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  [[ ! -e $scratch/output ]] || { echo 'its output:' >&2; cat "$scratch/output" >&2; }
  exit 1
}

# expect STATUS COMMAND…: runs it with no terminal; its output is in $scratch/output.
expect() {
  local expected=$1 status=0
  shift
  "$@" </dev/null >"$scratch/output" 2>&1 || status=$?
  [[ $status == "$expected" ]] || fail "$* exits $status, expected $expected"
}

says() { grep -qF -- "$1" "$scratch/output" || fail "the output lacks: $1"; }
is_silent_about() { ! grep -qF -- "$1" "$scratch/output" || fail "the output has: $1"; }

# A PATH with all programs but those named: $scratch/bin first holds what a test puts there.
path_without() {
  local folder program
  mkdir -p "$scratch/bin" "$scratch/programs"
  for folder in /usr/local/bin /usr/bin /bin; do # what is there already stays
    ln -s "$folder"/* "$scratch/programs/" 2>/dev/null || true
  done
  for program in "$@"; do rm -f "$scratch/programs/$program"; done
  printf '%s\n' "$scratch/bin:$scratch/programs"
}

fake() {  # NAME: a program in the PATH of path_without; its text comes from standard input
  mkdir -p "$scratch/bin"
  { echo '#!/bin/bash'; cat; } >"$scratch/bin/$1"
  chmod +x "$scratch/bin/$1"
}
