# SPDX-License-Identifier: Apache-2.0
# The reference that Doxygen makes of the headers: nothing in a comment is wrong, and every public name has one.
. "$root/tests/script/lib/check.bash"
doxygen=1.9.4

if ! command -v doxygen >/dev/null; then
  [[ $SINTER_CI != ON ]] || fail 'doxygen is missing. apt-get install doxygen'
  echo 'skipped: doxygen is not installed (apt-get install doxygen)'
  exit
fi
used=$(doxygen --version | sed 's/ .*//')
if [[ $used != "$doxygen" ]]; then echo "skipped: this check is of Doxygen $doxygen, this is $used"; exit; fi

die() { fail "$*"; }
. "$root/scripts/reference.sh"
make_reference "$scratch/reference" "$scratch/all" 2>"$scratch/output"
[[ -s $scratch/reference/html/index.html ]] || fail 'there is no first page'

# A member of a group is said twice.
sort -u "$scratch/all" | sed "s,^$root/,," >"$scratch/warnings"
grep -v ' is not documented\.$' "$scratch/warnings" >"$scratch/output" &&
  fail 'Doxygen does not understand these comments; mend them, or docs/reference/filter.awk'
cp "$scratch/warnings" "$scratch/output"
[[ ! -s $scratch/output ]] || fail 'these public names have no comment. Describe each as a contract, or put what is' \
  'not for programs into sinter::detail'
rm "$scratch/output"
echo 'each public name has a comment'
