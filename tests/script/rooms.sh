# SPDX-License-Identifier: Apache-2.0
# No rooms include each other in a circle, and the picture of their floors in docs/design.md is that of the code.
. "$root/tests/script/lib/check.bash"
cd "$root"

python3 scripts/rooms.py --check docs/design.md >"$scratch/output" 2>&1 || fail "the floors are not in order"
