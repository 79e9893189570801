# SPDX-License-Identifier: Apache-2.0
# tune plans what a recipe and its own candidates allow, says why not, and cuts what does not fit.
. "$root/tests/script/lib/check.bash"

cat >"$scratch/mine.cpp" <<'CPP'
#include <sinter/sinter.hpp>
using namespace sinter;
struct OwnMemory {
  using slot = slot::memory;
  static constexpr bool recomputed_inside(const detail::Layer&) { return false; }
};
struct mine : Recipe<Mlp<{.in = 8, .hidden = 64, .out = 1, .layers = 3}>, Batch<{.global = 64, .micro = 32}>> {
  using candidates = Candidates<OwnMemory>;
};
int main(int argc, char** argv) { return run<mine>(argc, argv); }
CPP
grid() { "$sinter" tune "$scratch/mine.cpp" --slots memory,batch,parallel "$@"; }

expect 0 grid --json "$scratch/grid.json"
says 'recipe  mine: 32 combinations of memory, batch, parallel'
says '28 fit'
says 'OwnMemory, Batch<{.global = 64, .micro = 16}>'
says '4 are no recipe'
says 'micro × ranks does not divide global, as in Batch<{.global = 64, .micro = 64}>, Ddp<>'
python3 - "$scratch/grid.json" <<'PYTHON' || fail 'the file has other combinations'
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
assert len(rows) == 32 and rows[0]["changed"] == [], rows[0]
assert sum(row["verdict"] == "fits" for row in rows) == 28
PYTHON
expect 1 grid --memory 100
says 'nothing fits'
expect 2 grid --memory much
says "--memory takes a number of bytes, or one with a unit, such as 500MB or 8GiB, not 'much'"

# A row is a recipe that plans as many bytes.
planned=$(python3 -c 'import json, sys; print([row["planned_bytes"] for row in json.load(open(sys.argv[1]))["rows"]
  if row["changed"] == ["Checkpoint<>", "Ddp<>"]][0] // 2)' "$scratch/grid.json")
sed -i 's/^int main.*/struct other : With<mine, Checkpoint<>, Ddp<>> {};\nstatic_assert(Plan<other>::bytes == '"$planned"');/' \
  "$scratch/mine.cpp"
expect 0 "$CXX" -std=c++20 -fsyntax-only "-I$root/include" "$scratch/mine.cpp"

race() { "$sinter" tune "$scratch/race.cpp" --slots memory --ranks 1 --out "$scratch/out" "$@" -- --steps 5000; }
cat >"$scratch/race.cpp" <<'CPP'
#include <sinter/sinter.hpp>
using namespace sinter;
struct tiny : Recipe<Gpt2<{.layers = 1, .heads = 2, .width = 32, .vocabulary = 256, .positions = 32}>,
                     Bytes<{.context = 32}>, Batch<{.global = 8, .micro = 8}>> {};

int main(int argc, char** argv) { return run<tiny>(argc, argv); }
CPP
head -c 100000 "$root/docs/design.md" >"$scratch/text"

# A word that train does not take ends it; a race that is killed goes on; the fastest recipe compiles.
expect 2 "$sinter" tune "$scratch/race.cpp" --slots memory --ranks 1 --out "$scratch/odd" --data "$scratch/text" -- --odd
says 'train does not take these words'
timeout --signal=KILL 20 "$sinter" tune "$scratch/race.cpp" --slots memory --ranks 1 --out "$scratch/out" \
  --data "$scratch/text" -- --steps 5000 >"$scratch/killed" 2>&1 || true
expect 0 race --data "$scratch/text" --minutes 1 --json "$scratch/race.json" --write "$scratch/tuned.cpp"
says '3 raced, compared by processor time'
python3 - "$scratch/race.json" <<'PYTHON' || fail 'the race has measured something else'
import json, sys
raced = json.load(open(sys.argv[1]))["raced"]
assert len(raced) == 3
assert all(abs(row["loss"] - raced[0]["loss"]) < 1e-3 for row in raced), raced
assert all(row["process_bytes"] > row["planned_bytes"] > 0 for row in raced), raced
PYTHON
expect 0 "$CXX" -std=c++20 -fsyntax-only "-I$root/include" "$scratch/tuned.cpp"
expect 1 race --data "$root/README.md"  # another race is in the folder
says 'of another race'

# A sweep compiles the recipe once, names an option that it lacks, and finds the better of two rates.
sweep() { "$sinter" tune "$scratch/race.cpp" --data "$scratch/text" --out "$scratch/sweep" "$@"; }
expect 2 sweep --sweep optimizer.rate=1,2
says "the recipe has no option 'optimizer.rate' that a flag changes. It has"
expect 0 sweep --sweep optimizer.lr=1e-5,3e-3 -- --steps 20
says ': --optimizer.lr 3e-3'
says 'the runs side by side'
python3 - "$scratch/sweep" <<'PYTHON' || fail 'the runs had other rates'
import json, sys
for rate in ("1e-5", "3e-3"):
    last = open(f"{sys.argv[1]}/optimizer.lr={rate}/metrics.jsonl").read().splitlines()[-1]
    assert json.loads(last)["step"] == 20, last
PYTHON

# A test of rates suggests one at which the recipe learns.
expect 0 "$sinter" tune "$scratch/race.cpp" --data "$scratch/text" --out "$scratch/rates" --json "$scratch/rates.json" \
  --lr-range 1e-6..1:60
says 'suggested: --optimizer.lr'
python3 - "$scratch/rates.json" <<'PYTHON' || fail 'it suggests a rate at which the recipe does not learn'
import json, sys
test = json.load(open(sys.argv[1]))
assert 1e-5 < test["suggested"]["optimizer.lr"] < 0.3, test
assert abs(test["steps"][-1]["lr"] / test["steps"][-2]["lr"] - 1e6 ** (1 / 59)) < 1e-6, test
PYTHON
expect 1 "$sinter" tune "$scratch/race.cpp" --data "$scratch/text" --lr-range --sweep optimizer.lr=1,2
says 'Leave out --sweep'
expect 1 "$sinter" tune "$scratch/race.cpp" --lr-range
says 'Give it --data'

# A candidate in a slot that tune does not change is one error.
sed -i 's/Candidates<OwnMemory>/Candidates<Constant>/' "$scratch/mine.cpp"
echo 'int main(int argc, char** argv) { return run<mine>(argc, argv); }' >>"$scratch/mine.cpp"
expect 1 grid
says 'Sinter: a candidate is in a slot that tune does not change.'

# Other verbs go on where the file is gone.
rm "$scratch/mine.cpp"
expect 2 "$sinter" launch
