# SPDX-License-Identifier: Apache-2.0
# What ranks are told by launch, what becomes of what they write, and command lines that are wrong.
. "$root/tests/script/lib/launch.bash"
cd "$scratch"

# Each rank has its number, all have one world, and another launch has another.
rank told <<'RANK'
printf '%s\n' "$SINTER_RANKS" "$SINTER_WORLD" "$@" "$(cat | wc -c)" >"$scratch/told.$SINTER_RANK"
ps -o pgid= -p $$ | tr -d ' ' >"$scratch/group.$SINTER_RANK"
RANK
"$launch" -n 3 "$scratch/told" --output 'a b' '' -- -n <<<'no rank reads this' || fail "the launcher ends with $?"
[[ $(cat told.0) == "$(cat told.1)" && $(cat told.0) == "$(cat told.2)" && ! -e told.3 ]] ||
  fail "ranks were told different things: $(head told.*)"
printf '%s\n' 3 "$(sed -n 2p told.0)" --output 'a b' '' -- -n 0 | cmp - told.0 || fail "told: $(cat told.0)"
[[ $(sed -n 2p told.0) =~ ^[0-9]+-[0-9]+$ ]] || fail 'a world has no id'
[[ $(cat group.*) == "$(printf '%s\n' "$(cat group.0)"{,,})" ]] || fail 'the ranks are in several groups'
[[ $(cat group.0) != "$(ps -o pgid= -p $$ | tr -d ' ')" ]] || fail 'the ranks are in the group of the launcher'
mv told.0 before
expect 0 "$launch" -n 1 -- "$scratch/told"
[[ $(sed -n 1p told.0) == 1 && $(sed -n 2p told.0) != "$(sed -n 2p before)" ]] || fail 'two worlds have one id'

# A name without '/' is looked for in PATH.
expect 0 env PATH="$scratch/none:$scratch:$PATH" "$launch" --ranks=2 told
expect 0 env PATH=":$PATH" "$launch" -n 1 told # an empty folder is this one
(cd / && expect 1 env PATH=":$PATH" "$launch" -n 1 told)

# --output rank0: all of rank 0 as it is; of the others standard error, with their number.
rank speaks <<'RANK'
echo "output of $SINTER_RANK"
echo "error of $SINTER_RANK" >&2
RANK
both() {  # ARGUMENT…: standard output and error of a launch into two files
  "$launch" "$@" >"$scratch/output" 2>"$scratch/error"
}
both -n 3 "$scratch/speaks"
[[ $(cat output) == 'output of 0' ]] || fail 'standard output should be that of rank 0'
[[ $(sort error) == $'[rank 1] error of 1\n[rank 2] error of 2\nerror of 0' ]] || fail "standard error: $(cat error)"
both -n 3 --output all "$scratch/speaks"
[[ $(sort output) == "$(printf '[rank %s] output of %s\n' 0 0 1 1 2 2)" ]] || fail 'not all output'
[[ $(sort error) == "$(printf '[rank %s] error of %s\n' 0 0 1 1 2 2)" ]] || fail "not all errors: $(cat error)"

# Rank 0 has the launcher's terminal, if that has one, also if it stops what writes to it from the
# background; a label begins a line there.
rank terminal <<'RANK'
if [[ $SINTER_RANK == 0 ]]; then
  [[ -t 1 && -t 2 ]] && printf 'a live line' && touch "$scratch/drawn"
else
  until [[ -e $scratch/drawn ]]; do sleep 0.1; done
  echo 'from rank 1' >&2
fi
RANK
script -qec "stty tostop; exec $launch -n 2 $scratch/terminal" /dev/null </dev/null >output
says "a live line"$'\r\e[K''[rank 1] from rank 1'

# Whole lines only, however they are written, and what was written to a line in the end.
rank pieces <<'RANK'
for ((i = 0; i < 500; ++i)); do printf 'abc'; printf 'def '; printf '%s\n' "$i"; done
printf '10%%\r100%%\r'; printf '\rend\r\nlast'
RANK
both -n 4 --output all "$scratch/pieces"
for r in 0 1 2 3; do
  { printf "[rank $r] abcdef %s\n" {0..499}; echo "[rank $r] end"; echo "[rank $r] last"; } >"$scratch/wanted"
  grep -F "[rank $r] " output | cmp - wanted || fail "lines of rank $r are not whole"
done
[[ $(wc -l <output) == 2008 ]] || fail 'there are other lines'

# A reader who leaves ends no rank.
rank verbose <<'RANK'
seq 20000
touch "$scratch/said.$SINTER_RANK"
RANK
"$launch" -n 2 --output all "$scratch/verbose" | head -n 1 >output
[[ -e said.0 && -e said.1 ]] || fail 'a rank ended with its reader'

# Wrong uses are said before any rank begins.
rank begins <<'RANK'
touch "$scratch/begun.$SINTER_RANK"
RANK
wrong() {  # STATUS TEXT ARGUMENT…
  local status=$1 text=$2
  shift 2
  expect "$status" "$launch" "$@"
  says "$text"
}
wrong 2 'BINARY is missing'
wrong 2 'BINARY is missing' -n 2
wrong 2 '-n N is missing' ./begins
wrong 2 '--ranks needs a value' -n
wrong 2 '--ranks is given 2 times' -n 1 -n 2 ./begins
for number in 0 -1 1025 2x 1.5; do wrong 2 "-n takes a whole number of at least 1 and at most 1024, not '$number'" -n "$number" ./begins; done
wrong 2 "--output takes rank0 or all, not 'al'; the nearest is 'all'" -n 1 --output al ./begins
wrong 2 '--grace takes a whole number' -n 1 --grace -1 ./begins
wrong 2 "There is no option '--outptu'; the nearest is '--output'" -n 1 --outptu all ./begins
says "launch --help' lists the options"
wrong 1 "There is no program './none'. Expected a binary" -n 1 ./none
wrong 1 "There is no program 'begins/none'" -n 1 begins/none
wrong 1 "There is no program 'no-such-program' in the folders of PATH" -n 1 no-such-program
wrong 1 "name it ./begins" -n 1 begins
wrong 1 "'$scratch' is a folder" -n 1 "$scratch"
touch no-program
wrong 1 "'./no-program' cannot be executed: Permission denied" -n 1 ./no-program
printf 'no program' >no-program
chmod +x no-program
wrong 1 "Rank 0 cannot run './no-program': Exec format error" -n 2 ./no-program
echo '#!/no/such/program' >no-program
wrong 1 'What it names as its loader, or behind #!, is not here' -n 2 ./no-program
SINTER_RANK=1 wrong 1 'SINTER_RANK is 1 here: this is a rank of a launch already' -n 2 ./begins
have_begun 0 || fail 'a rank has begun'
expect 0 "$launch" --help
says 'launch -n N [OPTION…] BINARY [ARGUMENT…]'
expect 0 "$launch" --version
says 'Sinter '
none_lives || fail "left alive: $(living)"
