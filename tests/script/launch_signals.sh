# SPDX-License-Identifier: Apache-2.0
# Signals of a launcher reach its ranks, and nothing outlives it.
. "$root/tests/script/lib/launch.bash"

# Each signal is passed on to all ranks, as often as it comes.
rank counts <<'RANK'
count=0
for s in INT TERM HUP QUIT USR1 USR2 XCPU; do
  trap "echo $s >>'$scratch/got.$SINTER_RANK'; ((++count < 2)) || exit 75" $s
done
touch "$scratch/begun.$SINTER_RANK"
while :; do sleep 0.1; done
RANK
# Shells ignore SIGINT and SIGQUIT for what they start in the background; something else may block others.
signals=(--default-signal --ignore-signal=INT --ignore-signal=QUIT --block-signal=TERM)
got() { [[ $(cat "$scratch/got.0") == "$1" && $(cat "$scratch/got.1") == "$1" ]]; }
for signal in INT TERM HUP QUIT USR1 USR2 XCPU; do
  rm -f "$scratch"/got.*
  begin -n 2 "$scratch/counts"
  wait_for have_begun 2
  kill -"$signal" "$launcher"
  wait_for got "$signal"
  kill -"$signal" "$launcher"
  wait_for got "$signal"$'\n'"$signal"
  ends_with 75
  is_silent_about 'launch: '
done
signals=(--default-signal)

# Ctrl-Z stops the ranks with the launcher, and what lets that go on lets them.
processes_are() {  # STATES: as many as the launch has, but for the keeper, which never stops
  local process
  for process in $(living); do
    if [[ $(cat "/proc/$process/comm") != sinter-keeper ]]; then
      [[ $(sed 's/.*) //; s/ .*//' "/proc/$process/stat") == ["$1"] ]] || return 1
    fi
  done
}
set -m # a group of its own, as a shell with a terminal gives
begin -n 2 "$scratch/counts"
set +m
wait_for have_begun 2
kill -TSTP "$launcher"
wait_for processes_are T
kill -CONT "$launcher"
wait_for processes_are RSD
rm -f "$scratch"/got.*
kill -TERM "$launcher"
wait_for got TERM
kill -TERM "$launcher"
ends_with 75

# What the parent ignores, as nohup does, is not passed on.
rm -f "$scratch"/got.* "$scratch"/begun.*
rank once <<'RANK'
trap 'exit 6' HUP
trap 'exit 75' TERM
touch "$scratch/begun.$SINTER_RANK"
while :; do sleep 0.1; done
RANK
signals=(--ignore-signal=HUP)
begin -n 2 "$scratch/once"
signals=(--default-signal)
wait_for have_begun 2
kill -HUP "$launcher"
kill -TERM "$launcher"
ends_with 75

# Who takes no signal ends the launch with that signal's status.
begin -n 2 sleep 1000
sleep_begun() { [[ $(living | while read -r p; do cat "/proc/$p/comm"; done | grep -c '^sleep$') == 2 ]]; }
wait_for sleep_begun
kill -TERM "$launcher"
ends_with 143

# Ranks have their time to save after a signal, also those that are slower than the first one to end, and
# what a script has started that ended at the signal.
rank slow <<'RANK'
trap '[[ $SINTER_RANK == 0 ]] || exit 75; for ((i = 0; i < 30; ++i)); do sleep 0.1; done; echo >"$scratch/saved"; exit 75' TERM
touch "$scratch/begun.$SINTER_RANK"
while :; do sleep 0.1; done
RANK
begin -n 2 "$scratch/slow"
wait_for have_begun 2
kill -TERM "$launcher"
ends_with 75
[[ -e $scratch/saved ]] || fail 'a rank was not given the time to save'
rm "$scratch/saved"
rank around <<'RANK'
"$scratch/slow"
exit 0
RANK
begin -n 1 "$scratch/around"
wait_for have_begun 1
kill -TERM "$launcher"
ends_with 143
[[ -e $scratch/saved ]] || fail 'what a script had started was not given the time to save'
is_silent_about 'The ranks have ended'

# … but only that time, where one has ended and another does not.
rank ignores <<'RANK'
if [[ $SINTER_RANK == 0 ]]; then trap '' TERM; else trap 'exit 0' TERM; fi
touch "$scratch/begun.$SINTER_RANK"
while :; do sleep 0.1; done
RANK
begin -n 2 --grace 1 "$scratch/ignores"
wait_for have_begun 2
kill -TERM "$launcher"
ends_with 137
says 'Rank 0 has not ended: SIGTERM, and in 5 s SIGKILL.'
says 'was ended by SIGKILL'

# Killed, the launcher leaves nothing: no rank, and no child of a rank; also after other signals.
rank parent <<'RANK'
trap 'echo USR1 >"$scratch/got.$SINTER_RANK"' USR1
(trap '' USR1; touch "$scratch/begun.$SINTER_RANK"; exec sleep 1000) &
while :; do sleep 0.1; done
RANK
rm -f "$scratch"/got.*
begin -n 2 "$scratch/parent"
wait_for have_begun 2
kill -USR1 "$launcher"
wait_for got USR1
kill -KILL "$launcher"
wait "$launcher" 2>/dev/null || true
wait_for none_lives

# A rank itself ends with it even if the keeper was killed before.
begin -n 2 sleep 1000
wait_for sleep_begun
keeper=$(living | while read -r p; do if [[ $(cat "/proc/$p/comm") == sinter-keeper ]]; then echo "$p"; fi; done)
kill -KILL "$keeper"
sleep_begun || fail 'ranks end with the keeper'
kill -KILL "$launcher"
wait "$launcher" 2>/dev/null || true
wait_for none_lives

# A reader who does not read keeps no signal from the ranks, and no launcher from its end.
rank floods <<'RANK'
trap 'touch "$scratch/flooded"; exit 75' TERM
touch "$scratch/begun.$SINTER_RANK"
while :; do printf '%s\n' {1..100}; done
RANK
mkfifo "$scratch/unread"
exec 5<>"$scratch/unread"
rm -f "$scratch"/begun.*
"$launch" -n 1 --output all "$scratch/floods" >&5 2>"$scratch/output" &
launcher=$!
wait_for have_begun 1
kill -TERM "$launcher"
wait_for [ -e "$scratch/flooded" ]
until_it_ends() { ! kill -TERM "$launcher"; }
wait_for until_it_ends
ends_with 75
