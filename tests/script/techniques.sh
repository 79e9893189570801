# SPDX-License-Identifier: Apache-2.0
# Pages of docs/techniques stand in its index and show a recipe; tests/static compiles these. Pages that do not, or
# whose recipe does not compile, are refused.
. "$root/tests/script/lib/check.bash"

pages() {  # STATUS FOLDER COMMAND
  expect "$1" cmake "-DFOLDER=$2" "-DALONE=$scratch/pages.cpp" "-DCOMMAND=$3" -P "$root/tests/static/pages.cmake"
}
pages 0 "$root/docs/techniques" true

cat >"$scratch/sinter.hpp" <<'HEADER'
namespace sinter {
template <int> struct Width {};
template <class...> struct Recipe { static constexpr bool fits = true; };
template <class R> constexpr bool ready() { return R::fits; }
}
HEADER
compiler="${CXX:-c++}|-std=c++20|-fsyntax-only|-include|$scratch/sinter.hpp"
page() {  # TEXT: a folder with one page that shows it
  mkdir -p "$scratch/pages"
  echo '[A page](a_page.md)' >"$scratch/pages/README.md"
  printf '# A page\n\n```cpp\n%s\n```\n' "$1" >"$scratch/pages/a_page.md"
}
page 'struct mine : Recipe<Width<1>> {};'
pages 0 "$scratch/pages" "$compiler"
cp "$scratch/pages/a_page.md" "$scratch/pages/another.md"  # each has a namespace of its own
echo '[Another](another.md)' >>"$scratch/pages/README.md"
pages 0 "$scratch/pages" "$compiler"
rm "$scratch/pages/another.md"

page 'struct mine : Recipe<Widht<1>> {};'
pages 1 "$scratch/pages" "$compiler"
says 'pages/a_page.md:4:'
says 'Widht'
page 'struct first : Recipe<Width<1>> {};
struct second : Recipe<Width<2>> { static constexpr bool fits = false; };'
pages 1 "$scratch/pages" "$compiler"
says 'second may not run'
page 'int width = 1;'
pages 1 "$scratch/pages" "$compiler"
says 'a_page.md shows no recipe'
page 'struct mine : Recipe<Width<1>> {};'
echo '# Pages' >"$scratch/pages/README.md"
pages 1 "$scratch/pages" "$compiler"
says 'has no link to a_page.md'
