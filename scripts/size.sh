#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints how many lines each room and each other folder has.
set -euo pipefail
export LC_ALL=C

usage() {
  cat <<'HELP'
usage: bash scripts/size.sh [COMMIT] [--times FOLDER]

Prints the lines of each place, the largest first, and of all. A place without a slash is a room X: include/sinter/X,
src/X, tests/unit/X and tests/reject/X together. What lies in no room counts for its folder: docs/, tests/binary/.
Files count as they lie here, if git knows them.
  COMMIT           also print the change of each since that commit
  --times FOLDER   also print the tests and their seconds in the last ctest of a build folder, or, where that ran
                   none, the means of the runs before
Exit status: 1 if COMMIT or FOLDER is wrong, 2 if the command line is.
HELP
}

die() { printf 'size.sh: %s\n' "$2" >&2; exit "$1"; }

commit='' folder=''
while (($# > 0)); do
  case $1 in
    --help | -h) usage; exit 0 ;;
    --times)
      (($# > 1)) || die 2 '--times needs a build folder in which ctest has run.'
      folder=$2 && shift ;;
    -* | '') die 2 "'$1' is no option and no commit; see --help." ;;
    *)
      [[ -z $commit ]] || die 2 "one commit is enough, and '$1' is another beside '$commit'."
      commit=$1 ;;
  esac
  shift
done

times=/dev/null
if [[ -n $folder ]]; then
  times=$(cd "$folder/Testing/Temporary" 2>/dev/null && pwd) || die 1 "in '$folder' no ctest has run."
  if grep -qs '^Test time = ' "$times/LastTest.log"; then times+=/LastTest.log; else times+=/CTestCostData.txt; fi
  [[ -r $times ]] || die 1 "no ctest in '$folder' has ended: there is no $times."
fi
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
[[ -z $commit ]] || git rev-parse -q --verify "$commit^{commit}" >/dev/null || die 1 "'$commit' is no commit of $PWD."

changes() { [[ -z $commit ]] || git -c core.quotePath=false diff --numstat --no-renames "$commit" --; }
files() { git ls-files -z | while IFS= read -rd '' file; do [[ ! -f $file ]] || printf './%s\0' "$file"; done; }
lines() { files | xargs -0 wc -l | sed -n 's|\./||p'; }  # without the totals of wc

# A line each: its kind, a number, and what it is of.
{
  lines | awk '{ number = $1; sub(/^ *[0-9]+ /, ""); print "lines\t" number "\t" $0 }'
  changes | awk -F '\t' '{ print "change\t" $1 - $2 "\t" $3 }'
  awk '/^---$/ { exit }
    /^[0-9]+\/[0-9]+ Test: / { name = $3 }
    /^Test time = / { print "test\t" $4 "\t" name }
    /^[^ ]+ [0-9]+ [0-9.e+-]+$/ { print "test\t" $3 "\t" $1 }' "$times"
} | awk -F '\t' -v since="$commit" -v timed="$folder" '
  function place(path,  part, count) {
    count = split(path, part, "/")
    if (count > 3 && path ~ /^(include\/sinter|tests\/(unit|reject))\//) return part[3]
    if (count > 2 && part[1] == "src") return part[2]
    if (count > 2 && part[1] == "tests") return "tests/" part[2] "/"
    return count > 1 ? part[1] "/" : "./"
  }
  function test_place(name,  part, count) {
    count = split(name, part, "/")
    if (count > 2 && part[1] == "unit") return part[2]
    if (count > 3 && part[1] == "reject") return part[3]  # behind the compiler
    return "tests/" part[1] "/"
  }
  function row(where) {
    return sprintf("%8d", lines[where]) (since == "" ? "" : sprintf("  %+7d", change[where])) \
      (timed == "" ? "" : sprintf("  %5d  %8.1f", tests[where], seconds[where])) "  " where
  }
  {
    where = $1 == "test" ? test_place($3) : place($3)
    places[where]
    if ($1 == "lines") { lines[where] += $2; lines["all"] += $2 }
    if ($1 == "change") { change[where] += $2; change["all"] += $2 }
    if ($1 == "test") { ++tests[where]; ++tests["all"]; seconds[where] += $2; seconds["all"] += $2 }
  }
  END {
    print "   lines" (since == "" ? "" : "   change") (timed == "" ? "" : "  tests   seconds") "  place"
    fflush()  # before sort prints
    for (where in places) print row(where) | "sort -k1,1nr -k2"
    close("sort -k1,1nr -k2")
    print row("all")
  }'
