# SPDX-License-Identifier: Apache-2.0
# bench/gpu/run with a card and programs that are played, and what bench/gpu/carry takes along.
. "$root/tests/script/lib/check.bash"
project=$scratch/project run=$scratch/project/bench/gpu/run
mkdir -p "$project/bench/gpu" "$project/build/gpu/bin" "$project/docs"
cp "$root/bench/gpu/run" "$run"
echo text >"$project/docs/page.md"
path_without nvidia-smi nvcc compute-sanitizer >/dev/null
PATH=$scratch/bin:$scratch/programs

program() {  # NAME: a program of the build
  fake "$1"
  mv "$scratch/bin/$1" "$project/build/gpu/bin/$1"
}

for words in '' 'tests bert' 'tests --out' 'test'; do
  # shellcheck disable=SC2086
  expect 2 "$run" $words
  [[ $(wc -l <"$scratch/output") == 1 ]] || fail "more than a line about '$words'"
done
says "there is no part or option 'test'"
expect 0 "$run" --help
says 'bench/gpu/run PART'
says 'build/carried'
expect 1 "$run" tests --carried "$scratch/none"
says 'has no folder include'
expect 1 "$run" tests
says 'there is no card here'
[[ $(wc -l <"$scratch/output") == 1 ]] || fail 'more than a line about no card'

fake nvidia-smi <<<'echo "Played card, 580.1, 9.0, 81559 MiB"'
expect 1 "$run" tests
says 'nvcc is not on PATH'
fake nvcc <<<'echo "Cuda compilation tools, release 13.0, V13.0.88"'
fake cmake <<<'echo "$*" >>"$(dirname "$0")/../asked"'
fake python3 <<<'exit 1'
expect 1 "$run" bert
says 'python3 has no module torch'

program test_gpu_training <<<'exit 0'
program test_gpu_kernels <<<'exit 0'
program test_gpu_one_rank <<<'exit 0'
program bytes_gpt2 <<'PLAYED'
while [[ $# -gt 0 ]]; do
  [[ $1 != --out ]] || { mkdir -p "$2/last"; echo "${PLAYED_BITS:-$2}" >"$2/last/model.safetensors"; }
  shift
done
PLAYED
PLAYED_BITS=same expect 0 "$run" tests --out "$scratch/out"
page=$(echo "$scratch"/out/*-gpu-tests.md)
grep -qF 'resumed with the same bits | passed' "$page" || fail 'the page lacks what was printed'
says 'Played card, 580.1'
says 'CUDA 13.0'
says 'resumed with the same bits | passed'
says 'compute-sanitizer | left out'
grep -q -- '-DCMAKE_CUDA_ARCHITECTURES=90' "$scratch/asked" || fail 'built for another card'

expect 1 "$run" tests --out "$scratch/out"
says 'resumed with the same bits | **failed (1)**'
says 'trainers on the card: the CPU, graphs, checkpoints | passed'

fake compute-sanitizer <<<'[[ $2 == racecheck ]] && { echo a race; exit 9; }; shift 4; "$@"'
PLAYED_BITS=same expect 1 "$run" tests --out "$scratch/out"
says 'memcheck of direct launches and graphs | passed'
says 'racecheck of direct launches and graphs | **failed (9)**'
says 'a race'

fake python3 <<<'[[ $2 != *__version__* ]] || printf ", PyTorch 2"'
program bench_gpu_bert <<<'echo "asked: $*"; [[ $* == *large* ]]'
expect 0 "$run" bert --only large --out "$scratch/out"
says 'asked: --peers python3 --only large'
says 'PyTorch 2, commit'
expect 1 "$run" bert --out "$scratch/out"

# Binaries that were built elsewhere: nothing is compiled.
rm "$scratch/asked"
mv "$project/build/gpu/bin" "$scratch/built"
expect 1 "$run" tests --built "$scratch/none"
says 'is no folder of binaries'
expect 1 "$run" gpt2 --built "$scratch/built" --out "$scratch/out"
says 'has no binary bench_gpu_gpt2'
expect 0 "$run" bert --built "$scratch/built" --only large --out "$scratch/out"
says 'asked: --peers python3 --only large'
[[ ! -e $scratch/asked ]] || fail 'something was compiled'

expect 2 "$root/bench/gpu/carry"
says 'bench/gpu/carry FOLDER'
expect 0 "$root/bench/gpu/carry" "$scratch/carried"
for file in boost/hana.hpp boost/crc.hpp nlohmann/json.hpp CLI/CLI.hpp fmt/format.h xxhash.h \
  hwy/highway.h zlib.h lzma.h zstd.h doctest/doctest.h; do
  [[ -f $scratch/carried/include/$file ]] || fail "$file is not carried"
done
[[ -z $(find "$scratch/carried" -type l) ]] || fail 'links are carried, which lead nowhere'
expect 1 "$root/bench/gpu/carry" "$scratch/carried"
says 'is not empty'
