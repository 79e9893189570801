# SPDX-License-Identifier: Apache-2.0
# What is missing is installed where that may be done, and named exactly where not. Nothing is really
# installed: apt-get, sudo and id are played.
. "$root/tests/script/lib/check.bash"
path=$(path_without ninja sudo)
export PATH=$path
ln -s "$(PATH=/usr/bin:/bin command -v ninja)" "$scratch/real-ninja"

# A user who may not install.
fake id <<<'echo 1000'
by_hand="sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends ninja-build'"
expect 1 "$sinter" build
says 'these Debian packages are missing: ninja-build'
says "$by_hand"

fake sudo <<<'exit 1'
expect 1 "$sinter" build
says "$by_hand"

# A user with sudo, and root: the same calls, update first, and only what is missing.
fake apt-get <<TEXT
echo "\$*" >>"$scratch/calls"
[[ \$1 == update ]] || ln -s "$scratch/real-ninja" "$scratch/bin/ninja"
TEXT
fake sudo <<TEXT
echo sudo >>"$scratch/sudo-calls"
[[ \$1 != -n ]] || shift
exec "\$@"
TEXT
for who in user root; do
  rm -f "$scratch/calls" "$scratch/bin/ninja"
  [[ $who == user ]] || fake id <<<'echo 0'
  expect 1 "$sinter" build "$scratch/no-such-recipe.cpp" # set-up passes, then this
  says 'installing ninja-build'
  says "there is no file '$scratch/no-such-recipe.cpp'"
  [[ $(head -n 1 "$scratch/calls") == update ]] || fail 'apt-get update was not called first'
  grep -qxE 'install -y --no-install-recommends .* ninja-build' "$scratch/calls" ||
    fail "apt-get was called with: $(cat "$scratch/calls")"
  [[ $(wc -l <"$scratch/calls") == 2 ]] || fail 'apt-get was called more than twice'
done
[[ -s $scratch/sudo-calls ]] || fail 'sudo was not used'

# Nothing missing: apt-get is not called.
rm "$scratch/calls"
expect 1 "$sinter" build "$scratch/no-such-recipe.cpp"
[[ ! -e $scratch/calls ]] || fail 'apt-get was called although nothing was missing'

# apt-get fails: its own words, and the command.
rm "$scratch/bin/ninja"
fake apt-get <<<'echo "E: no such mirror"; exit 100'
expect 1 "$sinter" build
says 'E: no such mirror'
says 'apt-get could not install ninja-build'
