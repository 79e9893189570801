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

# A candidate in a slot that tune does not change is one error.
sed -i 's/Candidates<OwnMemory>/Candidates<Constant>/' "$scratch/mine.cpp"
echo 'int main(int argc, char** argv) { return run<mine>(argc, argv); }' >>"$scratch/mine.cpp"
expect 1 grid
says 'Sinter: a candidate is in a slot that tune does not change.'

# Other verbs go on where the file is gone.
rm "$scratch/mine.cpp"
expect 2 "$sinter" launch
