# SPDX-License-Identifier: Apache-2.0
# Every name of the code that these pages use is a name of the code; every path is there. Whoever
# renames something is told which page to mend.
. "$root/tests/script/lib/check.bash"
. "$root/tests/script/lib/words.bash"
cd "$root"

of_the_library=(docs/life_of_a_step.md docs/glossary.md)
of_users=(docs/add_a_*.md docs/loop.md)
of_paths=(README.md CONTRIBUTING.md docs/design.md docs/dependencies.md)

words_of_code include src >"$scratch/library"
words_of_code include src examples bench tests recipes scripts >"$scratch/users"

missing=
check() {  # WHAT PAGE FILE-OF-WANTED: what is wanted and not there is said
  local name
  while read -r name; do
    [[ -z $name ]] || missing+=$'\n'"  $2: no $1 '$name'"
  done <"$3"
}
check_names() {  # PAGE WORDS
  { code_of "$1" | names_in; blocks_of "$1" | { grep -oE '[A-Za-z_][A-Za-z0-9_]+' || true; }; } |
    sort -u | comm -23 - "$2" >"$scratch/absent"
  check name "$1" "$scratch/absent"
}
check_paths() {  # PAGE. A path may also begin below include/sinter, as code and people say it, or be
  # the name of a file that the code reads or writes.
  code_of "$1" | paths_in | while read -r path; do
    compgen -G "$path" >/dev/null || compgen -G "include/$path" >/dev/null ||
      compgen -G "include/sinter/$path" >/dev/null || compgen -G "src/$path" >/dev/null ||
      compgen -G "src/kernels/cpu/$path" >/dev/null || grep -rqF -- "\"$path\"" src include ||
      printf '%s\n' "$path"
  done >"$scratch/absent"
  check path "$1" "$scratch/absent"
}

for page in "${of_the_library[@]}"; do
  check_names "$page" "$scratch/library"
  check_paths "$page"
done
for page in "${of_users[@]}"; do
  check_names "$page" "$scratch/users"
  check_paths "$page"
done
for page in "${of_paths[@]}"; do check_paths "$page"; done

# What a compiler says on a page, it says: the first sentence of each error is a message of ours.
find include examples -name '*.hpp' -o -name '*.cpp' | xargs cat | tr -d '\n' | sed -E 's/" *"//g' \
  >"$scratch/messages"
for page in README.md docs/*.md docs/*/*.md; do
  awk '/^ *```/ { if (fenced && block ~ /^error: /) print block; fenced = !fenced; block = ""; next }
       fenced { block = block (block == "" ? "" : " ") $0 }' "$page" |
    sed -E 's/^error: static assertion failed: //; s/(Why|What|Fix): .*//; s/ *$//' |
    while read -r message; do
      grep -qF -- "$message" "$scratch/messages" || printf '%s\n' "$message"
    done >"$scratch/absent"
  check message "$page" "$scratch/absent"
done

[[ -z $missing ]] || fail "these pages speak of what is not there (or no longer):$missing
Rename it on the page, too."

# Every link within the project leads somewhere.
for page in *.md docs/*.md docs/*/*.md; do
  prose_of "$page" | { grep -oE '\]\([^)#]+' || true; } | sed 's/^](//' | { grep -v '://' || true; } |
    while read -r target; do
    [[ -e $(dirname "$page")/$target ]] || printf '%s\n' "$target"
  done >"$scratch/absent"
  check 'file behind the link' "$page" "$scratch/absent"
done
[[ -z $missing ]] || fail "links that lead nowhere:$missing"

# Every link to a section leads to a heading.
anchors_of() {  # PAGE: what GitHub makes of its headings
  prose_of "$1" | sed -nE 's/^#+ +//p' | sed -E 's/\[([^]]*)\]\([^)]*\)/\1/g' | LC_ALL=C.UTF-8 \
    sed -E 's/.*/\L&/; s/[^[:alnum:] _-]//g; s/ /-/g' | sort -u
}
for page in *.md docs/*.md docs/*/*.md; do
  prose_of "$page" | { grep -oE '\]\([^):]*#[^)]+\)' || true; } | sed 's/^](//; s/)$//' |
    while IFS='#' read -r target section; do
    anchors_of "${target:+$(dirname "$page")/}${target:-$page}" | grep -xF -- "$section" >/dev/null ||
      printf '%s\n' "$target#$section"
  done >"$scratch/absent"
  check 'section behind the link' "$page" "$scratch/absent"
done
[[ -z $missing ]] || fail "links to sections that are not there:$missing"
