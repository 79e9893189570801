# run trains, evaluates beside xz, shows a sample, and says where the checkpoint lies.
. "$root/tests/script/lib/check.bash"

mkdir -p "$scratch/text/b"
cp "$root"/include/sinter/*.hpp "$scratch/text"
cp "$root/README.md" "$scratch/text/b/a-last-one"
cp "$root/sinter" "$scratch/text/.hidden"
all=$(cd "$scratch/text" && find . -name '.?*' -prune -o -type f -print | LC_ALL=C sort | xargs cat | wc -c)
(cd "$scratch/text" && find . -name '.?*' -prune -o -type f -print | LC_ALL=C sort | xargs cat) |
  tail -c $((all / 10)) >"$scratch/held-out"

expect 0 "$sinter" run --data "$scratch/text" --steps 2 --out "$scratch/run"
says 'The last 10% of the data was held out.'
grep -q "On its last $(sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta' <<<$((all / 10))) bytes" \
  "$scratch/output" || fail "not the $((all / 10)) bytes that are held out"
bits=$(awk -v xz="$(xz -9 -c "$scratch/held-out" | wc -c)" -v all=$((all / 10)) \
  'BEGIN { printf "%.3f", 8 * xz / all }')
says "xz -9       $bits bits per byte"
grep -qE 'this model  [0-9]+\.[0-9]{3} bits per byte' "$scratch/output" || fail 'no figure of the model'
says 'A sample of what it writes:'
checkpoint=$(sed -n 's/^The checkpoint: //p' "$scratch/output")
[[ -s $checkpoint/model.safetensors ]] || fail "no model.safetensors in '$checkpoint'"

# The trainer's own errors and their status come through.
expect 1 "$sinter" run --data "$scratch/nothing-here" --steps 2 --out "$scratch/other"
says 'nothing-here'
is_silent_about 'A sample of what it writes'
