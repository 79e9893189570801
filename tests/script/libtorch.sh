# SPDX-License-Identifier: Apache-2.0
# LibTorch: where it is looked for, and how it comes into the cache (pip is played).
. "$root/tests/script/lib/check.bash"
unset Torch_DIR CMAKE_PREFIX_PATH
locate() { cmake -P "$root/cmake/locate_libtorch.cmake"; }
pinned=$(sed -n 's/^torch==\([0-9.]*\).*/\1/p' "$root/cmake/libtorch.txt")

make_libtorch() {  # FOLDER VERSION
  mkdir -p "$1"/{lib,include/ATen/core,include/torch/headeronly,share/cmake/Torch}
  touch "$1/lib/libtorch_cpu.so" "$1/include/ATen/core/Tensor.h"
  printf '#define TORCH_VERSION \\\n  "%s"\n' "$2" >"$1/include/torch/headeronly/version.h"
}
mine=$scratch/mine/torch
make_libtorch "$mine" 2.12.1
make_libtorch "$scratch/old" 1.13.0

for variable in "Torch_DIR=$mine/share/cmake/Torch" "Torch_DIR=$mine" \
  "CMAKE_PREFIX_PATH=/nowhere:$mine/share/cmake" "CMAKE_PREFIX_PATH=$mine"; do
  expect 0 env "$variable" cmake -P "$root/cmake/locate_libtorch.cmake"
  says "$mine 2.12.1"
done
expect 1 env Torch_DIR="$scratch" cmake -P "$root/cmake/locate_libtorch.cmake"
says "Torch_DIR names $scratch"
expect 1 env Torch_DIR="$scratch/old" cmake -P "$root/cmake/locate_libtorch.cmake"
says "is version"
says '1.13.0'

# The cache: a wheel's wanted files only, complete or not at all, also with two at once.
export SINTER_CACHE=$scratch/cache
[[ -z $(locate | tr -d ' ') ]] || fail 'something was found in an empty cache'
mkdir -p "$scratch/python/pip"
export PYTHONPATH=$scratch/python
cat >"$scratch/python/pip/__main__.py" <<'TEXT'
import os, pathlib, sys, time, zipfile
options = sys.argv[1:]
assert "--require-hashes" in options and "--abi=cp311" in options, options
folder = pathlib.Path(options[options.index("--dest") + 1])
folder.mkdir()
with open(os.environ["SINTER_CACHE"] + "/downloads", "a") as log:
    log.write("one\n")
time.sleep(0.5)
pins = pathlib.Path(options[options.index("--requirement") + 1]).read_text()
for pin in pins.splitlines():
    name, version = pin.split()[0].split("==")
    info = f"{name.replace('-', '_')}-{version}.dist-info/"
    with zipfile.ZipFile(folder / (name + ".whl"), "w") as wheel:
        for file in ("licenses/LICENSE", "RECORD", "METADATA"):
            wheel.writestr(info + file, pin)
        for file in ("include/ATen/core/Tensor.h", "lib/libtorch_cpu.so", "lib/libtorch_cuda.so", "x.py"):
            if name == "torch":
                wheel.writestr("torch/" + file, "text")
if "FAIL" in os.environ:
    sys.exit("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES")
TEXT
touch "$scratch/python/pip/__init__.py"
fetch() { python3 "$root/scripts/fetch_libtorch.py"; }

expect 1 env FAIL=1 python3 "$root/scripts/fetch_libtorch.py"
says 'could not be downloaded by pip'
says 'DO NOT MATCH THE HASHES'
[[ ! -e $SINTER_CACHE/libtorch-$pinned ]] || fail 'a failed download left a LibTorch'

fetch >"$scratch/first" 2>&1 &
other=$!
fetch >"$scratch/second" 2>&1 || fail "the second process failed: $(cat "$scratch/second")"
wait $other || fail "the first process failed: $(cat "$scratch/first")"
[[ $(wc -l <"$SINTER_CACHE/downloads") == 2 ]] || fail 'both processes downloaded'
found=$(cd "$SINTER_CACHE/libtorch-$pinned" && find torch -type f | sort | tr '\n' ' ')
[[ $found == 'torch/include/ATen/core/Tensor.h torch/lib/libtorch_cpu.so ' ]] ||
  fail "unpacked: $found"
licences() { (cd "$SINTER_CACHE/libtorch-$pinned" && find ./*.dist-info -type f | sort); }
licences >"$scratch/output"
[[ $(wc -l <"$scratch/output") == $((2 * $(grep -c == "$root/cmake/libtorch.txt"))) ]] ||
  fail 'expected the licence and the RECORD of each wheel'

# A LibTorch that came without the licences of some wheels is given those, and nothing else again.
cp "$scratch/output" "$scratch/all"
rm -r "$SINTER_CACHE/libtorch-$pinned"/nvidia_*.dist-info
echo mine >"$SINTER_CACHE/libtorch-$pinned/torch/lib/libtorch_cpu.so"
expect 0 fetch
licences | diff - "$scratch/all" >"$scratch/output" || fail 'the licences were not completed'
grep -q mine "$SINTER_CACHE/libtorch-$pinned/torch/lib/libtorch_cpu.so" || fail 'torch was fetched again'
expect 0 fetch
[[ $(wc -l <"$SINTER_CACHE/downloads") == 3 ]] || fail 'a complete LibTorch was downloaded again'
left=$(find "$SINTER_CACHE" -mindepth 1 -maxdepth 1 -name '.libtorch-*')
[[ -z $left ]] || fail "left behind: $left"

expect 1 env SINTER_CACHE=/proc/cache python3 "$root/scripts/fetch_libtorch.py"
says 'export SINTER_CACHE=FOLDER'
