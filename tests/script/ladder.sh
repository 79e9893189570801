# SPDX-License-Identifier: Apache-2.0
# bench ladder measures each rung once, keeps what it has measured, and refuses what does not fit. $ladder is its binary.
. "$root/tests/script/lib/check.bash"
[[ -n ${ladder:-} ]] || { echo 'skipped: this build has no benches'; exit; }

python3 - "$scratch/dialogues.jsonl" <<'PYTHON'
import json, random, sys
draw = random.Random(1)
words = ["".join(draw.choices("aeiourstnl", k=draw.randint(2, 7))) for _ in range(300)]
with open(sys.argv[1], "w") as file:
    for _ in range(60):
        turns = [" ".join(draw.choices(words, k=draw.randint(1, 12))) for _ in range(5)]
        print(json.dumps({"turns": [["US"[k % 2], turn] for k, turn in enumerate(turns)]}), file=file)
PYTHON
climb() { "$ladder" --data "$scratch/dialogues.jsonl" --threads 2 --held-out 8 --json "$scratch/table.json" "$@"; }

expect 1 climb --examples 256
says 'has 240 examples, too few for 256 to train on and 8 held out of other'
expect 1 climb --examples 200
says '--examples is 200. Give a multiple of 64'
expect 1 climb --only wide
says "--only is 'wide', which is in none of these names"
echo '{"turns": 1}' >"$scratch/bad.jsonl"
expect 1 "$ladder" --data "$scratch/bad.jsonl"
says 'bad.jsonl, line 1: '
expect 1 "$ladder" --data "$scratch/none.jsonl"
says 'none.jsonl'

# A peer that is played: its losses are others.
fake python <<'PLAYED'
echo 'STEP 1000 9'
read -r && echo 'STEP 500 8'
PLAYED
expect 0 climb --examples 128 --svg "$scratch/table.svg" --peers "$scratch/bin/python"
says '| dynamic batching, batchsort |'
says '| 2.08 |'
says "its last loss is not the baseline's"
cp "$scratch/output" "$scratch/first"
python3 - "$scratch/table.json" "$scratch/table.svg" <<'PYTHON' || fail 'the files do not say what was measured'
import json, math, sys, xml.etree.ElementTree as tree
table = json.load(open(sys.argv[1]))
runs = {run["training"]: run for run in table["runs"]}
rows = {row["rung"]: row for row in table["rows"]}
assert len(runs) == len(table["runs"]) == 12 and len(rows) == len(table["rows"]) == 14, (len(runs), len(rows))

# The same examples and weights: padding changes no loss, and the tokens predicted are equal.
plain, packed = runs["padded"], runs["packed fp32"]
assert abs(plain["first_loss"] - packed["first_loss"]) < 1e-4, (plain, packed)
assert abs(plain["last_loss"] - packed["last_loss"]) < 1e-3, (plain, packed)
whole = [run for name, run in runs.items() if "steps" in run and name != "packed lengths"]
assert len({run["predictions"] for run in whole}) == 1, whole
assert plain["rows"] > runs["batchsort"]["rows"] > packed["rows"]
assert plain["steps"] == packed["steps"] == 2
baseline = rows["baseline"]
perplexities = {rows[name]["perplexity"] for name in rows if "baseline" in name and "eval_s" in rows[name]}
assert len(perplexities) == 1 and baseline["perplexity"] < 8192, perplexities
assert baseline["faster"] == 1 and rows["baseline, 5 beams"]["eval_cpu_s"] > 0
for row in rows.values():
    if "total_s" in row:
        assert math.isclose(row["total_s"], row["train_s"] + row["eval_s"])
        assert math.isclose(row["faster"], baseline["total_s"] / row["total_s"])
        assert row["train_cpu_s"] > 0 and row["planned_bytes"] > 0
peer = rows["PyTorch eager, the baseline's training"]
assert peer["train_s"] == 1 and not peer["valid"], peer  # two steps of 500 ms
bars = tree.parse(sys.argv[2]).getroot().findall("{http://www.w3.org/2000/svg}rect")
assert len(bars) == 1 + 8, bars

# A run that was stopped has fewer of them.
table["runs"] = [run for run in table["runs"] if run["training"] != "dynamic"]
json.dump(table, open(sys.argv[1], "w"))
PYTHON

expect 0 climb --examples 128 --only padded
is_silent_about 'round 1:'
expect 0 climb --examples 128 --only dynamic
says 'round 1: dynamic'
is_silent_about 'round 1: padded'
expect 0 climb --examples 128
is_silent_about 'round 1:'
expect 0 climb --examples 128 --rounds 3 --only PyTorch --peers "$scratch/bin/python"
says 'round 3: PyTorch'
is_silent_about 'left out'
expect 1 climb --examples 192
says 'table.json is of another examples: 128, and now it is 192'
echo '{' >"$scratch/table.json"
expect 1 climb --examples 128
says 'table.json is no table of this bench'
