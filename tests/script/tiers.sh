# SPDX-License-Identifier: Apache-2.0
# Each test of this build is in one tier: the first (label quick), the second (no such label), the third (checks), or
# it is a soak. (Tests that others need come along by themselves: -FA leaves them out.)
. "$root/tests/script/lib/check.bash"

names() { ctest --test-dir "$build" -N -FA . "$@" | sed -n 's/^ *Test *#[0-9]*: //p' | sort; }
names >"$scratch/all"
for tier in quick checks soak; do names -L "^$tier\$" >"$scratch/$tier"; done
names -LE '^(quick|checks|soak)$' >"$scratch/second"
for tier in quick second checks soak; do
  [[ -s $scratch/$tier ]] || fail "no test is in the tier $tier"
  sed "s/\$/ is in the tier $tier/" "$scratch/$tier"
done >"$scratch/tiers"
sed 's/ is in the tier .*//' "$scratch/tiers" | sort >"$scratch/each"
twice=$(uniq -d "$scratch/each")
[[ -z $twice ]] || { grep -F "$twice" "$scratch/tiers" || true; fail "tests in two tiers: $twice"; }
cmp "$scratch/all" "$scratch/each" || fail 'tests are in no tier, or there are two of a name'
