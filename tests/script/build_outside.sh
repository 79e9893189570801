# SPDX-License-Identifier: Apache-2.0
# build makes a binary of any recipe file, also one outside the tree whose name is taken.
. "$root/tests/script/lib/check.bash"

expect 1 "$sinter" build "$scratch/none.cpp"
says "there is no file '$scratch/none.cpp'"

mkdir "$scratch/my recipes"
mine=$scratch/my\ recipes/bytes_gpt2.cpp
sed 's/\bbytes_gpt2\b/my_own_gpt/g' "$root/recipes/bytes_gpt2.cpp" >"$mine"
cd "$scratch/my recipes"
"$sinter" build bytes_gpt2.cpp >"$scratch/output" 2>"$scratch/messages" </dev/null ||
  fail "build exits $?: $(cat "$scratch/messages")"
binary=$(tail -n 1 "$scratch/output")
[[ -x $binary ]] || fail 'the last line is not the path of a binary'
expect 0 "$binary" describe --json
says '"my_own_gpt"'

echo 'int main() { return missing; }' >"$scratch/broken.cpp"
expect 1 "$sinter" build "$scratch/broken.cpp"
says missing
says "the build failed; the compiler's messages are above"

# A name that CMake has for something else is nothing to a user.
cp "$mine" "$scratch/all.cpp"
"$sinter" build "$scratch/all.cpp" >"$scratch/output" 2>"$scratch/messages" </dev/null ||
  fail "build all.cpp exits $?: $(cat "$scratch/messages")"
binary=$(tail -n 1 "$scratch/output")
[[ -x $binary && ${binary##*/} == all_* ]] || fail "'$binary' is not a binary of all.cpp"
rm "$scratch/all.cpp"

# A file that is gone stands in nobody's way.
rm "$scratch/broken.cpp"
expect 0 "$sinter" build
binary=$(tail -n 1 "$scratch/output")
expect 0 "$binary" describe --json
says '"bytes_gpt2"'
