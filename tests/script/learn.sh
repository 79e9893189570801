# SPDX-License-Identifier: Apache-2.0
# bench learn trains each method from the same weights, holds it to its bar, and claims nothing where a peer did not
# run. $learn is its binary; where SINTER_PYTHON has torch and transformers, it is compared with them.
. "$root/tests/script/lib/check.bash"
[[ -n ${learn:-} ]] || { echo 'skipped: this build has no benches'; exit; }

python3 - "$scratch/text" <<'PYTHON'
import random, sys
draw = random.Random(1)
words = ["".join(draw.choices("aeiourstnl", k=draw.randint(2, 7))) for _ in range(60)]
open(sys.argv[1], "w").write(" ".join(draw.choices(words, k=6000)))
PYTHON
rounds=2
learns() { "$learn" --data "$scratch/text" --threads 2 --rounds "$rounds" --steps 30 "$@"; }

expect 1 learns --only wide
says "--only is 'wide', which is in none of these names: GPT, Fp32; GPT, Bf16"
expect 1 learns --warmup 30
says '--steps is 30, and --warmup 30. Give more steps'
head -c 1000 "$scratch/text" >"$scratch/short"
expect 1 "$learn" --data "$scratch/short"
says 'The text has 1000 bytes, and needs 1300'
expect 1 "$learn" --data "$scratch/none"
says "Cannot read $scratch/none"

# Without a peer: equal first losses, as weights and batches are equal, and then others.
expect 0 learns --only GPT --json "$scratch/own.json"
says 'Nothing is compared with PyTorch.'
is_silent_about '| met |'
python3 - "$scratch/own.json" <<'PYTHON' || fail 'the file does not say what was learnt'
import json, math, sys
table = json.load(open(sys.argv[1]))
rows = {(row["row"], row["measure"]): row for row in table["rows"]}
assert len(rows) == len(table["rows"]) == 6 and len(table["not_compared"]) == 5, table["rows"]
assert not table["peers"] and all("bar" not in row for row in table["rows"])
own = table["ours"]
fp32 = own["GPT, Fp32"]
assert len(fp32) == 2 and fp32[0]["first_losses"] != fp32[1]["first_losses"]
assert abs(fp32[0]["first_losses"][0] - math.log(256)) < 0.1, fp32
for name, runs in own.items():
    for run, plain in zip(runs, fp32):
        first, last = run["first_losses"][0], run["first_losses"][-1]
        assert first == plain["first_losses"][0] or "Bf16" in name and abs(first - plain["first_losses"][0]) < 0.01, name
        assert len(run["first_losses"]) == 30 and last < first - 0.5, (name, first, last)
        assert run["final_loss"] < first - 0.5 and (name == "GPT, Fp32" or run != plain), name
distance = rows["GPT, Bf16", "distance from fp32, mean of 30 losses"]["ours"]
apart = [abs(a - b) for half, whole in zip(own["GPT, Bf16"], fp32)
         for a, b in zip(half["first_losses"], whole["first_losses"])]
assert math.isclose(distance, sum(apart) / 60) and distance > 0, distance
PYTHON

# The same command trains only what the file lacks, and a command of other settings is refused.
python3 - "$scratch/own.json" "$scratch/part.json" <<'PYTHON'
import json, sys
table = json.load(open(sys.argv[1]))
table["ours"]["GPT, Fp32"][1]["final_loss"] = 7
del table["ours"]["GPT, Muon"], table["rows"]
json.dump(table, open(sys.argv[2], "w"))
PYTHON
expect 0 learns --only GPT --json "$scratch/part.json"
python3 - "$scratch/own.json" "$scratch/part.json" <<'PYTHON' || fail 'it has trained other rows than those that were missing'
import json, sys
own, part = (json.load(open(path))["ours"] for path in sys.argv[1:])
assert part["GPT, Fp32"][1]["final_loss"] == 7, part["GPT, Fp32"]
assert part["GPT, Muon"] == own["GPT, Muon"], part["GPT, Muon"]
PYTHON
expect 1 learns --only GPT --json "$scratch/part.json" --warmup 20
says 'is of another warmup: 10, and now it is 20. Name another file'
expect 0 learns --only 'GPT, Fp32' --warmup 20 --json "$scratch/slow.json"
python3 - "$scratch/own.json" "$scratch/slow.json" <<'PYTHON' || fail 'a longer warm-up does not slow the first steps'
import json, sys
own, slow = (json.load(open(path))["ours"]["GPT, Fp32"][0]["first_losses"] for path in sys.argv[1:])
assert own[0] == slow[0] and all(b > a for a, b in zip(own[2:12], slow[2:12])), (own, slow)
PYTHON

# A peer that is played: it has our losses, or others, and lacks a package.
cat >"$scratch/play.py" <<'PYTHON'
import json, os, sys
name = {"fp32": "Fp32", "autocast": "Bf16", "adafactor": "Adafactor", "muon": "Muon"}[sys.argv[1]]
for run in json.load(open(sys.argv[2]))["ours"]["GPT, " + name]:
    for number, loss in enumerate(run["first_losses"], 1):
        print("FACT", number, loss + float(os.environ["APART"]) * (number == 7))
    print("FACT held_out", run["final_loss"] / float(os.environ["WORSE"]))
    print("STEP 0 0", flush=True)
    sys.stdin.readline()
PYTHON
fake python <<PLAYED
[[ \$2 != adamw8bit ]] || { echo 'no bitsandbytes' >&2; exit 1; }
exec python3 "$scratch/play.py" "\$2" "$scratch/own.json"
PLAYED
played() { APART=$1 WORSE=$2 learns --peers "$scratch/bin/python" --only "${@:3}"; }
expect 0 played 0.0009 1.009 'GPT, Fp32' --svg "$scratch/table.svg" --json "$scratch/fp32.json"
says '| GPT, Fp32 | first 30 losses, largest difference |'
says '| met |'
is_silent_about 'missed'
is_silent_about 'ot compared'
python3 - "$scratch/fp32.json" "$scratch/table.svg" <<'PYTHON' || fail 'the files do not say how far the peer is'
import json, math, sys, xml.etree.ElementTree as tree
first, last = json.load(open(sys.argv[1]))["rows"]
assert math.isclose(first["compared"], 0.0009, rel_tol=1e-6) and first["bar"] == 1e-3 and first["met"], first
assert math.isclose(last["compared"], 1.009) and last["bar"] == 1.01 and last["met"], last
assert len(tree.parse(sys.argv[2]).getroot().findall("{http://www.w3.org/2000/svg}rect")) == 1 + 2
PYTHON
expect 1 played 0.0011 1 'GPT, Fp32'
says '**missed**'
expect 1 played 0 1.011 'GPT, Muon'
says '**missed**'
expect 1 played 0.011 1 'GPT, Adafactor'
says '**missed**'
expect 0 played 0 1 'GPT, Bf16'
says 'distance from fp32, mean of 30 losses'
says '| 1 | 3 | met |'
expect 1 played 0 1 GPT
says 'no bitsandbytes'
says "- GPT, AdamW8bit, beside bitsandbytes' AdamW8bit"
is_silent_about 'missed'
expect 1 played 0 1 'GPT, AdamW8bit'
is_silent_about '| met |'

python=${SINTER_PYTHON:-python3}
if ! "$python" -c 'import torch, transformers; torch.optim.Muon' 2>/dev/null; then
  echo 'not compared with PyTorch: SINTER_PYTHON names no Python that has torch and transformers'
  exit
fi
rounds=1 # each peer takes seconds to begin
expect 0 learns --only Fp32 --peers "$python"
says '| seq2seq, Fp32 | final loss, mean of 1 |'
# The distance of Bf16 has no bar in so few steps, and bitsandbytes may be missing: the status may be 1.
learns --only GPT --peers "$python" --json "$scratch/real.json" >"$scratch/output" 2>&1 || true
python3 - "$scratch/real.json" <<'PYTHON' || fail 'GPT does not learn as in PyTorch'
import json, sys
table = json.load(open(sys.argv[1]))
assert len(table["rows"]) == 10 - len(table["not_compared"]), table
assert all("AdamW8bit" in name for name in table["not_compared"]), table["not_compared"]
for row in table["rows"]:
    assert "bar" in row or "AdamW8bit" in row["row"], row
    assert row["ours"] < 0.01 if "distance" in row["measure"] else row.get("met", True), row
PYTHON
