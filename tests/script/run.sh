# SPDX-License-Identifier: Apache-2.0
# run trains, says what the held-out text costs beside xz, shows a sample and the checkpoint.
. "$root/tests/script/lib/check.bash"

mkdir -p "$scratch/text/b"
cp "$root"/include/sinter/program/*.hpp "$scratch/text"
cp "$root/sinter" "$scratch/text/b/a-last-one"
cp "$root/CMakeLists.txt" "$scratch/text/.hidden"
(cd "$scratch/text" && find . -name '.?*' -prune -o -type f -print | sort | xargs cat) >"$scratch/all"
held_out=$(($(stat -c %s "$scratch/all") / 10))
tail -c $held_out "$scratch/all" >"$scratch/held-out"

expect 0 "$sinter" run --data "$scratch/text" --steps 2 --out "$scratch/run"
cp "$scratch/output" "$scratch/said"
says "$(sed -E 's/([0-9]{3})$/,\1/' <<<$held_out) bytes that were held out:"
says "$(awk -v xz="$(xz -9 -c "$scratch/held-out" | wc -c)" -v bytes=$held_out \
  'BEGIN { printf "xz -9       %.3f bits per byte", 8 * xz / bytes }')"
says 'A sample of what it writes:'
says 'times a text outgrew the context'
checkpoint=$(sed -n 's/^The checkpoint: //p' "$scratch/output")
[[ -s $checkpoint/model.safetensors ]] || fail "no model.safetensors in '$checkpoint'"

# The same figure from the binary's eval, on the bytes that are held out.
expect 0 "$sinter" build
binary=$(tail -n 1 "$scratch/output")
expect 0 "$binary" eval --weights "$checkpoint" --data "$scratch/held-out" --json
bits=$(grep -o '"bits_per_byte":[0-9.]*' "$scratch/output" | cut -d: -f2)
mv "$scratch/said" "$scratch/output"
says "$(printf 'this model  %.3f bits per byte' "$bits")"

# The trainer's own errors and their status come through.
expect 1 "$sinter" run --data "$scratch/nothing-here" --steps 2 --out "$scratch/other"
says 'nothing-here'
is_silent_about 'A sample of what it writes'
