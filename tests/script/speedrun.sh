# SPDX-License-Identifier: Apache-2.0
# bench speedrun ends a run at the first evaluation that is good enough, says how long it took, and claims nothing where
# none is. $speedrun is its binary.
. "$root/tests/script/lib/check.bash"
[[ -n ${speedrun:-} ]] || { echo 'skipped: this build has no benches'; exit; }

python3 - "$scratch/text" <<'PYTHON'
import random, sys
draw = random.Random(1)
words = ["".join(draw.choices("aeiourstnl", k=draw.randint(2, 7))) for _ in range(60)]
open(sys.argv[1], "w").write(" ".join(draw.choices(words, k=3000)))
PYTHON
races() { "$speedrun" --data "$scratch/text" --threads 2 --json "$scratch/table.json" "$@"; }

expect 1 "$speedrun" --data "$scratch/none"
says "$scratch/none"
echo >"$scratch/empty"
expect 1 "$speedrun" --data "$scratch/empty"
says 'has 1 bytes, too few for two parts. Expected tinyshakespeare'
expect 2 "$speedrun"
says '--data is required'
for target in 0 9 low; do
  expect 2 races --target "$target"
  says '--target'
done
expect 2 races --faster
says '--faster'
expect 2 races --program "$scratch/none"
says '--program'
expect 2 races --program "$scratch/text" --peers python3
says '--peers'

# A program that is played: it logs losses, and computes between them.
fake entry <<'PLAYED'
scratch=${0%/bin/entry}
[[ $1 == train ]] || exit 4
shift
while (($#)); do
  case $1 in
    --data | --validation | --out | --seed | --threads | --ends | --logs) declare "${1#--}=$2" ;;
    *) echo "what is $1?" >&2; exit 3 ;;
  esac
  shift 2
done
[[ $threads == 2 ]] || exit 5
cat "$data" "$validation" | cmp - "$scratch/text" || exit 6
[[ $(wc -c <"$data") == $(($(wc -c <"$scratch/text") * 9 / 10)) ]] || exit 7
[[ -z ${logs:-} ]] || { mkdir "$out"; echo "$logs" >"$out/metrics.jsonl"; exit; }
for ((k = 0; k < 100000; ++k)); do :; done
mkdir "$out"
printf '{"step":1,"loss":3}\n{"step":2,"loss":1,"val_loss":2.5}\n{"step":3,' >"$out/metrics.jsonl"
sleep 0.1 # a row may come in pieces
printf '"loss":1,"val_loss":1.%s}\n' "$seed" >>"$out/metrics.jsonl"
[[ -n ${ends:-} ]] || sleep 60
exit "$ends"
PLAYED
path_without >/dev/null
entry() { races --program "$scratch/bin/entry" "$@"; }

expect 0 entry --target 1.3
says 'to 1.3 nats a byte; this text or target is not that of the table, so nothing counts'
says 'median: '
python3 - "$scratch/table.json" <<'PYTHON' || fail 'the file does not say what was measured'
import json, sys
table = json.load(open(sys.argv[1]))
assert table["target"] == 1.3 and not table["counts"] and table["threads"] == 2, table
assert [run["seed"] for run in table["runs"]] == [1, 2, 3]
for run in table["runs"]:
    assert [(e["step"], e["val_loss"]) for e in run["evaluations"]] == [(2, 2.5), (3, 1 + run["seed"] / 10)], run
    assert run["reached"] and 0.1 <= run["seconds"] < 50 and 0.01 < run["processor_seconds"] < 20, run
    assert run["evaluations"][0]["seconds"] <= run["evaluations"][1]["seconds"] <= run["seconds"], run
PYTHON

# What does not reach the target, until it ends or is ended, is no time.
expect 1 entry --target 1.1 --seeds 2 -- --ends 0
says '| 1 | yes |'
says '| 2 | **no** |'
is_silent_about 'median'
expect 1 entry --target 1 --seeds 1 --minutes 0.03
says '| 1 | **no** |'
expect 1 entry --target 1 --seeds 1 -- --ends 9
says 'entry has failed. Its last words:'
expect 1 entry -- --wide 1
says 'what is --wide?'
expect 1 entry -- --logs '{"step":1,"loss":1}'
says 'entry has evaluated nothing'
expect 1 entry -- --logs 'step 1'
says 'has a row that is no JSON: step 1'

# The recipe and PyTorch take part: bytes that are equally likely are ln 256 = 5.545, and two steps learn more.
expect 0 races --target 5.5 --seeds 1 -- --steps 2 --eval-every 1
says 'entry: speedrun_tinyshakespeare'
says '| 1 | yes |'
python=${SINTER_PYTHON:-python3}
if ! "$python" -c 'import numpy, torch' 2>/dev/null; then
  echo 'PyTorch took no part: SINTER_PYTHON names no Python that has torch'
  exit
fi
expect 0 races --target 2.3 --seeds 1 --peers "$python" -- --settings cpu --steps 30 --eval-every 5
says "entry: nanoGPT's settings in PyTorch"
says '| 1 | yes |'
