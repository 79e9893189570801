# SPDX-License-Identifier: Apache-2.0
# How a launch ends: with what its ranks end, with one that fails, with those that do not end.
. "$root/tests/script/lib/launch.bash"

# status.RANK says with what a rank ends: a number, or the name of a signal.
rank ends <<'RANK'
status=$(cat "$scratch/status.$SINTER_RANK")
[[ $status == [0-9]* ]] || kill -"$status" $$
exit "$status"
RANK
launch_ends() {  # STATUS END…: launches as many ranks as ends are given
  local wanted=$1 r=0 end
  shift
  for end in "$@"; do echo "$end" >"$scratch/status.$((r++))"; done
  begin -n $# "$scratch/ends"
  ends_with "$wanted"
}
launch_ends 0 0 0 0
[[ ! -s $scratch/output ]] || fail 'something is said where all is well'
launch_ends 75 0 75
launch_ends 75 75 75 75
[[ ! -s $scratch/output ]] || fail 'something is said where all have stopped'
launch_ends 3 0 3 75
grep -qxE '[^ ]*launch: Rank 1 \(process [0-9]+\) has ended with 3\.( The others have 60 s to end\.)?' "$scratch/output" ||
  fail 'the failed rank is not named'
launch_ends 1 1
launch_ends 137 75 0 KILL
says 'Rank 2 (process '
says 'was ended by SIGKILL'
launch_ends 134 ABRT
says 'was ended by SIGABRT'
launch_ends 141 PIPE # which the launcher ignores, and ranks do not
signals=(--ignore-signal=CHLD) # where the system forgets how processes end
launch_ends 4 0 4
signals=(--default-signal)

# The first to fail counts, whatever follows; it is said when it fails, and by its process.
rank follow <<'RANK'
echo $$ >"$scratch/begun.$SINTER_RANK"
if [[ $SINTER_RANK == 1 ]]; then
  until [[ -s $scratch/begun.0 && -s $scratch/begun.2 ]]; do sleep 0.1; done
  printf 'what is wrong' >&2
  exit 7
fi
trap 'echo >"$scratch/terminated"; exit 9' TERM
until grep -q 'Rank 1' "$scratch/output"; do sleep 0.1; done
exit $((SINTER_RANK + 4))
RANK
begin -n 3 "$scratch/follow"
ends_with 7
says "Rank 1 (process $(cat "$scratch/begun.1")) has ended with 7. The others have 60 s to end."
[[ $(grep -n 'what is wrong' "$scratch/output" | cut -d: -f1) < $(grep -n 'Rank 1' "$scratch/output" | cut -d: -f1) ]] ||
  fail "what a rank has said stands behind its end"
[[ ! -e $scratch/terminated ]] || fail 'ranks were not given the time to end'
(($(grep -c 'launch: ' "$scratch/output") == 1)) || fail 'more than the first rank is named'

# … also where the reader is late: with labels this is more than a pipe takes, without less.
rank much <<'RANK'
[[ $SINTER_RANK == 1 ]] || exit 0
echo $$ >"$scratch/begun.1"
seq 10000 >&2
sleep 1
printf 'what is wrong' >&2
exit 7
RANK
mkfifo "$scratch/late"
exec 5<>"$scratch/late"
rm "$scratch"/begun.*
"$launch" -n 2 "$scratch/much" 2>&5 &
launcher=$!
wait_for have_begun 1
wait_for [ ! -e "/proc/$(cat "$scratch/begun.1")" ]
env -u SINTER_TEST_MARK cat <&5 >"$scratch/read" &
reader=$!
ends_with 7
wait_for grep -q 'Rank 1' "$scratch/read"
kill "$reader"
exec 5>&-
tail -n 2 "$scratch/read" >"$scratch/output"
[[ $(head -n 1 "$scratch/output") == '[rank 1] what is wrong' ]] || fail 'what a rank has said stands behind its end'

# A rank that has ended with 0 hurries no other.
rank early <<'RANK'
[[ $SINTER_RANK == 0 ]] || exit 0
trap 'exit 9' TERM
for ((i = 0; i < 30; ++i)); do sleep 0.1; done
RANK
begin -n 2 --grace 0 "$scratch/early"
ends_with 0

# Those that do not end get SIGTERM when the time is over, and SIGKILL later.
rank stays <<'RANK'
if [[ $SINTER_RANK == 1 ]]; then
  until [[ -e $scratch/begun.0 && -e $scratch/begun.2 ]]; do sleep 0.1; done
  exit 5
fi
[[ $SINTER_RANK != 2 ]] || trap '' TERM
[[ $SINTER_RANK != 0 ]] || trap 'echo >"$scratch/terminated"; exit 0' TERM
touch "$scratch/begun.$SINTER_RANK"
while :; do sleep 0.1; done
RANK
begin -n 3 --grace 2 "$scratch/stays"
ends_with 5
[[ -e $scratch/terminated ]] || fail 'a rank got no SIGTERM'
says 'Ranks 0 and 2 have not ended: SIGTERM, and in 5 s SIGKILL.'
says 'Rank 2 has not ended: SIGKILL.'

# What ranks leave behind is ended; what has left their group is not waited for.
rank leaves <<'RANK'
sleep 1000 &
exit 0
RANK
begin -n 2 --output all "$scratch/leaves"
ends_with 0
says 'The ranks have ended, but not all processes that they have started: SIGTERM'
if unshare --pid --fork true 2>/dev/null; then # where nobody else asks how they have ended
  expect 0 unshare --pid --fork timeout 120 "$launch" -n 2 --output all "$scratch/leaves"
  says 'The ranks have ended, but not all'
fi
rank leaves <<'RANK'
(exec env -u SINTER_TEST_MARK setsid bash -c 'echo $$ >"$scratch/apart"; echo begun; exec sleep 1000') &
until [[ -s $scratch/apart ]]; do sleep 0.1; done
RANK
begin -n 1 --output all "$scratch/leaves"
ends_with 0
kill "$(cat "$scratch/apart")" || fail 'a process with a session of its own was ended'
is_silent_about 'The ranks have ended'

# Where the system refuses a process or a descriptor, what has begun is ended.
rank waits <<'RANK'
sleep 1000
RANK
(ulimit -n 40; expect 1 "$launch" -n 30 --output all "$scratch/waits")
says 'raise the limit of open files (ulimit -n)'
none_lives || fail "left alive: $(living)"
if [[ $(id -u) == 0 ]]; then # for whom there is no limit
  cp "$launch" "$scratch/launcher"
  chmod 755 "$scratch" "$scratch/launcher"
  (ulimit -u 5
    expect 1 setpriv --reuid=65534 --regid=65534 --clear-groups "$scratch/launcher" -n 30 "$scratch/waits")
  says 'raise the limit of processes (ulimit -u)'
  none_lives || fail "left alive: $(living)"
fi
