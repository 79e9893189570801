# SPDX-License-Identifier: Apache-2.0
# help, and what is no verb.
. "$root/tests/script/lib/check.bash"

expect 0 "$sinter" help
for verb in run test checks soak build launch new recipe tune pack bench topology reference doctor help; do says "  $verb"; done

expect 2 "$sinter" rnu
says "there is no verb 'rnu'; the nearest is 'run'"
says 'usage: ./sinter VERB'
expect 2 "$sinter" doc
says "the nearest is 'doctor'"
expect 2 "$sinter" pakc
says "the nearest is 'pack'"
expect 2 "$sinter"
says 'usage: ./sinter VERB'

expect 1 "$sinter" build --fast
says "build takes --cuda and then a recipe file, no other options: '--fast'"
expect 1 "$sinter" reference --html
says 'reference takes no options: --html'
expect 0 "$sinter" tune --help
says 'usage: ./sinter tune FILE.cpp [OPTION…]'
expect 1 "$sinter" tune
says "tune takes a recipe's C++ file"
expect 1 "$sinter" tune /no/such.cpp
says "there is no file '/no/such.cpp'"
expect 1 "$sinter" tune "$root/recipes/bytes_gpt2.cpp" --slots precision,size
says "there is no slot 'size' that tune changes"
expect 1 "$sinter" tune "$root/recipes/bytes_gpt2.cpp" --slots=precision,,memory
says 'names with commas between'
expect 1 "$sinter" tune "$root/recipes/bytes_gpt2.cpp" --ranks 9
says "--ranks takes a number from 1 to 8, not '9'"
expect 1 "$sinter" tune --memory
says '--memory takes a value'
expect 1 "$sinter" tune --faster "$root/recipes/bytes_gpt2.cpp"
says "tune has no option '--faster'"
tune() { "$sinter" tune "$root/recipes/bytes_gpt2.cpp" "$@"; }
expect 1 tune --minutes 5
says '--minutes is of a tune that trains. Give it --data PATH…'
expect 1 tune --data
says '--data takes files or folders'
expect 1 tune --data /no/such
says "there is no file or folder '/no/such'"
expect 1 tune --data "$root/README.md" --minutes 0
says '--minutes takes a number above 0'
expect 1 tune --data "$root/README.md" --arms none
says '--arms takes a number'
expect 1 tune --data "$root/README.md" --write "$root/README.md"
says 'is there already'
expect 1 tune --data "$root/README.md" --write /no/such/file.cpp
says "there is no folder '/no/such'"
expect 1 tune --data "$root/README.md" --seed 3
says '--seed is of --sweep'
expect 1 tune --data "$root/README.md" --sweep optimizer.lr=1,2 --slots memory
says '--slots is of combinations of policies'
expect 1 "$sinter" bench no-such-bench
says "there is no bench 'no-such-bench'"

cd /
expect 0 "$sinter" help # from any folder
ln -s "$sinter" "$scratch/linked"
expect 0 "$scratch/linked" bench
for file in "$root"/bench/*.cpp "$root"/bench/*.sh; do
  name=${file##*/} name=${name%.*}
  grep -qE "^${name//_/-} +[A-Z].{20}" "$scratch/output" || fail "bench lists no sentence for $name"
done
says 'What does the executor cost?'
is_silent_about '//'
is_silent_about SPDX
