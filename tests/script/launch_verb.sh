# SPDX-License-Identifier: Apache-2.0
# ./sinter launch builds the launcher and hands all over to it: words, exit codes, and being one process.
. "$root/tests/script/lib/check.bash"

expect 7 "$sinter" launch -n 2 --output all bash -c 'echo "$0, $1: of $SINTER_RANKS"; exit 7' 'a  b' '*'
says '[rank 0] a  b, *: of 2'
says '[rank 1] a  b, *: of 2'
says 'sinter launch: Rank '
expect 2 "$sinter" launch -n none true
says 'sinter launch: -n takes a whole number'
says "'./sinter launch --help' lists the options."
