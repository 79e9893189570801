# SPDX-License-Identifier: Apache-2.0
# Every source file names the licence in its first line, or in its second below "#!", as LICENSE does.
. "$root/tests/script/lib/check.bash"
cd "$root"

grep -qx 'SPDX-License-Identifier: Apache-2.0' LICENSE || fail 'LICENSE names no licence'
grep -q '^Copyright [0-9]* The Sinter authors$' LICENSE || fail 'LICENSE names no holder'

git rev-parse --git-dir >/dev/null 2>&1 || { echo 'skipped: this is no git checkout, which says what its files are'; exit; }
git ls-files --cached --others --exclude-standard |
  grep -E '(\.([ch]pp|cuh?|py|sh|bash|cmake|in)|CMakeLists\.txt|^sinter|^\.ci/run)$' |
  while read -r file; do
    [[ ! -e $file ]] || head -n 2 "$file" | grep -qE '^(//|#) SPDX-License-Identifier: Apache-2\.0$' || echo "$file"
  done >"$scratch/output"
[[ ! -s $scratch/output ]] || fail 'these files lack the line "SPDX-License-Identifier: Apache-2.0"'
