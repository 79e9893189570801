# SPDX-License-Identifier: Apache-2.0
# bench seeds has all rows of the documents' tables, its formulas agree with the plans, and what it derives follows
# from the rows. $seeds is its binary.
. "$root/tests/script/lib/check.bash"
[[ -n ${seeds:-} ]] || { echo 'skipped: this build has no benches'; exit; }
sow() { "$seeds" --threads 2 --rounds 1 --steps 1 --json "$scratch/table.json" "$@"; }

expect 1 sow --only wide
says "--only is 'wide', which is in none of these names: guide: vanilla; "

# A peer that is played.
path_without >/dev/null
fake python <<'PLAYED'
echo 'FACT state 8'
echo 'STEP 1000 0.7'
while read -r; do echo 'STEP 500 0.7'; done
PLAYED
expect 0 sow --svg "$scratch/table.svg" --peers "$scratch/bin/python"
says '| gradient checkpointing |'
says '| bytes by the formula, off by |'
says '| guide: vanilla, time of the Trainer'
python3 - "$scratch/table.json" "$scratch/table.svg" <<'PYTHON' || fail 'the files do not say what was measured'
import json, math, sys, xml.etree.ElementTree as tree
table = json.load(open(sys.argv[1]))
rows = {row["row"]: row for row in table["rows"]}
guide = ["vanilla", "accumulation", "accumulation, checkpointing", "half precision", "all three", "Adafactor",
         "Adafactor, all three", "AdamW in 8 bits", "AdamW in 8 bits, all three"]
batches = [f"{size}{more}" for size in (8, 16, 32, 64) for more in ("", ", half precision")]
distilbert = ["fp32", "half precision", "half, compiled (as always)", "half, 2 ranks (document: 4)"]
expected = {"guide": guide, "batch": batches, "distilbert": distilbert, "ranks": ["Ddp", "SplitBatch (DP)"],
            "state": ["AdamW", "Adafactor", "AdamW in 8 bits", "SGD with momentum"],
            "zero": [f"stage {stage}, {ranks} ranks" for ranks in (2, 4) for stage in (1, 2, 3)]}
names = {f"{name}: {row}" for name, some in expected.items() for row in some}
assert names == set(rows) and len(rows) == len(table["rows"]), names ^ set(rows)

# The formula, wherever a page states one.
formulas = [name for name in rows if name.split(":")[0] in ("guide", "batch", "zero")]
for name in formulas:
    assert abs(rows[name]["formula_off"]) < 0.02, rows[name]

of = {name: rows[f"guide: {name}"] for name in guide}
vanilla = of["vanilla"]
for row in of.values():
    assert row["valid"] and math.isclose(row["memory"], row["planned_mib"] / vanilla["planned_mib"]), row
    assert row["process_mib"] > row["planned_mib"] / 2 and row["cpu_ms"] > 0, row
    assert row["peer_ms"] == 500 and row["peer_state"] == 8, row
    assert math.isclose(row["time_of_peer"], row["cpu_ms"] / row["peer_cpu_ms"]), row
assert vanilla["memory"] == vanilla["time"] == 1
assert of["accumulation, checkpointing"]["memory"] < of["accumulation"]["memory"] < 1
assert math.isclose(of["accumulation"]["document_memory"], (8681 - 1343) / (14949 - 1343))
assert math.isclose(of["half precision"]["document_time"], 27.46 / 57.82)
assert math.isclose(rows["state: AdamW"]["state"], 8, rel_tol=1e-3)
assert math.isclose(rows["state: AdamW"]["all_half"], 18, rel_tol=1e-3)

methods = {row["row"]: row for row in table["methods"]}
assert len(methods) == 6, methods
checkpointing = of["accumulation, checkpointing"]["planned_mib"] / of["accumulation"]["planned_mib"]
assert methods["gradient checkpointing"]["memory"] == f"yes, {checkpointing:.2f}", methods
assert methods["gradient checkpointing"]["speed"].startswith("no, "), methods
assert methods["DeepSpeed ZeRO, stage 3 on 2 ranks"]["speed"] == "not measured"
bars = tree.parse(sys.argv[2]).getroot().findall("{http://www.w3.org/2000/svg}rect")
assert len(bars) == 1 + 2 * (9 + 4), bars
PYTHON

expect 0 sow --only 'guide: accumulation'
says '| guide: vanilla |'
says '| batch size, of 64 beside 8, each sequence | not measured |'
is_silent_about '| guide: Adafactor |'
is_silent_about '| state: AdamW |'
