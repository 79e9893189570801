# SPDX-License-Identifier: Apache-2.0
# The reference that Doxygen makes of the headers: nothing in a comment is wrong, every option is
# described, and the number of public names without a comment is the ceiling, which only falls.
. "$root/tests/script/lib/check.bash"
ceiling=13 doxygen=1.9.4

if ! command -v doxygen >/dev/null; then
  [[ $SINTER_CI != ON ]] || fail 'doxygen is missing. apt-get install doxygen'
  echo 'skipped: doxygen is not installed (apt-get install doxygen)'
  exit
fi
used=$(doxygen --version | sed 's/ .*//')
if [[ $used != "$doxygen" ]]; then echo "skipped: the ceiling is of Doxygen $doxygen, this is $used"; exit; fi

die() { fail "$*"; }
. "$root/scripts/reference.sh"
make_reference "$scratch/reference" "$scratch/all" 2>"$scratch/output"
[[ -s $scratch/reference/html/index.html ]] || fail 'there is no first page'

# A member of a group is said twice. What is said of options is never let pass.
sort -u "$scratch/all" | sed "s,^$root/,," >"$scratch/warnings"
grep -v ' is not documented\.$' "$scratch/warnings" >"$scratch/output" &&
  fail 'Doxygen does not understand these comments; mend them, or docs/reference/filter.awk'
grep -E ' of (struct|class) sinter::[A-Za-z0-9:]*Options is not documented\.$' "$scratch/warnings" \
  >"$scratch/output" && fail 'these options have no comment; describe each where it is declared'

now=$(wc -l <"$scratch/warnings")
cp "$scratch/warnings" "$scratch/output"
((now <= ceiling)) || fail "$now public names have no comment, and the ceiling is $ceiling. Describe" \
  'what you have added, as a contract, or put what is not for users into a namespace detail'
rm "$scratch/output"
((now == ceiling)) || fail "$now public names have no comment, and the ceiling is $ceiling: lower it" \
  "to $now in tests/script/reference.sh"
echo "$now public names have no comment, as many as the ceiling"
