# SPDX-License-Identifier: Apache-2.0
# Every source file names the licence in its first line, or in its second below "#!", as LICENSE does.
. "$root/tests/script/lib/check.bash"
cd "$root"

grep -qx 'SPDX-License-Identifier: Apache-2.0' LICENSE || fail 'LICENSE names no licence'
grep -q '^Copyright [0-9]* The Sinter authors$' LICENSE || fail 'LICENSE names no holder'

find . \( -path ./build -o -path ./.git \) -prune -o -type f \( -name '*.[ch]pp' -o -name '*.cu' \
  -o -name '*.cuh' -o -name '*.py' -o -name '*.sh' -o -name '*.bash' -o -name '*.cmake' \
  -o -name '*.in' -o -name CMakeLists.txt -o -path ./sinter -o -path ./.ci/run \) -print |
  while read -r file; do
    head -n 2 "$file" | grep -qE '^(//|#) SPDX-License-Identifier: Apache-2\.0$' || echo "$file"
  done >"$scratch/output"
[[ ! -s $scratch/output ]] || fail 'these files lack the line "SPDX-License-Identifier: Apache-2.0"'
