# SPDX-License-Identifier: Apache-2.0
# What the tests of launch share. $launch is the program; BINARY are small scripts.
. "$root/tests/script/lib/check.bash"
export SINTER_TEST_MARK=$scratch # what is started here is known by it
export scratch
trap 'end_all; rm -rf "$scratch"' EXIT

rank() {  # NAME: a script that ranks run; its text comes from standard input
  { echo '#!/bin/bash'; cat; } >"$scratch/$1"
  chmod +x "$scratch/$1"
}

# The processes that were started here and have not ended, the launcher and its keeper included.
living() {
  local process
  for process in /proc/[0-9]*; do
    if grep -qszxF "SINTER_TEST_MARK=$scratch" "$process/environ"; then echo "${process#/proc/}"; fi
  done
}
end_all() {
  local process
  for process in $(living); do kill -KILL "$process" 2>/dev/null || true; done
}

wait_for() {  # COMMAND…: until it succeeds, which takes no time but on a machine that is very busy
  local tries
  for ((tries = 0; tries < 1200; ++tries)); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.1
  done
  fail "after two minutes: not $*"
}
none_lives() { [[ -z $(living) ]]; }
have_begun() {  # N: as many ranks say so, by a file begun.RANK
  [[ $(find "$scratch" -name 'begun.*' | wc -l) == "$1" ]]
}

signals=(--default-signal) # whatever is ignored by what runs the tests, such as nohup
begin() {  # ARGUMENT…: a launch beside the test, whose process is $launcher
  rm -f "$scratch"/begun.*
  env "${signals[@]}" "$launch" "$@" </dev/null >"$scratch/output" 2>&1 &
  launcher=$!
}
ends_with() {  # STATUS: what begin has begun ends, and leaves nothing
  local status=0
  wait "$launcher" || status=$?
  [[ $status == "$1" ]] || fail "the launcher has ended with $status, expected $1"
  none_lives || fail "left alive: $(ps -o pid,ppid,pgid,stat,args -p "$(living | paste -sd,)")"
}
