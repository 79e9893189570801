# SPDX-License-Identifier: Apache-2.0
# Public comments, pages and names of tests keep the rules of scripts/words.py, which finds what breaks them.
. "$root/tests/script/lib/check.bash"
cd "$root"

expect 0 python3 scripts/words.py

mkdir -p "$scratch/tests"
cat >"$scratch/some.hpp" <<'HEADER'
/// Does what it says.
int one();
/// The same of two.
int two();
HEADER
printf 'TEST_CASE("%s") {}\n' 'a name' 'and so does the other' >"$scratch/tests/some.cpp"
printf 'A sentence%s.\n\nA short one.\n' "$(printf ' word%.0s' {1..34})" >"$scratch/some.md"
expect 1 python3 scripts/words.py "$scratch/some.hpp" "$scratch/some.md" "$scratch/tests/some.cpp"
says 'some.hpp:3: a comment begins with “The same”'
says 'some.md:1: a sentence of 36 words'
says "some.cpp:2: a test's name begins with “and”"
[[ $(wc -l <"$scratch/output") == 3 ]] || fail 'something that is right was refused'
