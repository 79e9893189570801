# SPDX-License-Identifier: Apache-2.0
# Compiles each public header by itself with GCC, so that one fails which lacks an include:
#   compiler=g++ include=FOLDER folder=FOLDER jobs=N bash headers_alone.sh FLAG…
# A header must see what its own includes bring, and nothing else. Most of the time would go into parsing the same
# includes for each. So a few headers, the hubs, are precompiled, and a header begins with the largest hub that it
# includes, directly or not. That brings nothing foreign: only includes count that stand before the header's first
# declaration, outside of any #if. A hub is compiled by itself or with another hub's lines parsed again.
# With hubs=0 each header is compiled from nothing (a soak). Ninja compiles again only what has changed.
set -euo pipefail
: "${compiler:?}" "${include:?}" "${folder:?}" "${jobs:?}"
hubs=${hubs:-24}
mkdir -p "$folder"
cd "$include"

# Prints a line "HEADER LINES INCLUDE…" for each header; includes are those of its leading block.
includes() {
  find sinter -name '*.hpp' ! -path 'sinter/autograd/*' | sort | xargs awk '
    function flush() { if (name != "") print name, lines, list }
    FNR == 1 { flush(); name = FILENAME; list = ""; leading = 1 }
    { lines = FNR }
    !leading || /^ *$/ || /^\/\// || /^#pragma once/ { next }
    /^#include "sinter\// { split($0, part, "\""); list = list " " part[2]; next }
    /^#include </ { split($0, part, /[<>]/); list = list " <" part[2] ">"; next }
    { leading = 0 }
    END { flush() }'
}

# Prints a line "HEADER HUB|- hub|-": the hub to begin with, and whether the header is one.
# Hubs are chosen one by one: the one that spares most lines, beyond those that are spared already.
choose() {
  awk -v hubs="$hubs" '
    function reach(top, header,    part, i, n) {
      if ((top, header) in sees) return
      sees[top, header]
      n = split(below[header], part, " ")
      for (i = 1; i <= n; ++i) reach(top, part[i])
      weight[top] += header in lines ? lines[header] : header ~ /hana/ ? 2000 : 4000
    }
    { lines[$1] = $2; name[NR] = $1; first = $1; $1 = $2 = ""; below[first] = $0 }
    END {
      for (h = 1; h <= NR; ++h) reach(name[h], name[h])
      for (round = 0; round < hubs; ++round) {
        most = 0
        for (a = 1; a <= NR; ++a) {
          gain = -1.5 * weight[name[a]]
          for (h = 1; h <= NR; ++h)
            if (a != h && (name[h], name[a]) in sees && weight[name[a]] > spared[name[h]])
              gain += weight[name[a]] - spared[name[h]]
          if (gain > most) { most = gain; best = name[a] }
        }
        if (most == 0) break
        hub[best]
        for (h = 1; h <= NR; ++h)
          if (best != name[h] && (name[h], best) in sees && weight[best] > spared[name[h]]) {
            spared[name[h]] = weight[best]
            begin[name[h]] = best
          }
      }
      for (h = 1; h <= NR; ++h)
        print name[h], name[h] in begin ? begin[name[h]] : "-", name[h] in hub ? "hub" : "-"
    }'
}

{
  cat <<TEXT
flags = $*
rule precompile
  command = $compiler \$flags -MD -MF \$out.d -x c++-header \$in -o \$out
  deps = gcc
  depfile = \$out.d
rule check
  command = $compiler \$flags -fsyntax-only -MD -MF \$out.d -MT \$out \$begin -include \$header -x c++ /dev/null && touch \$out
  deps = gcc
  depfile = \$out.d
  description = \$header
TEXT
  includes | choose | while read -r header begin hub; do
    name=${header//\//_}
    if [[ $hub == hub ]]; then
      printf '#include "%s"\n' "$header" | cmp -s - "$folder/$name" || printf '#include "%s"\n' "$header" >"$folder/$name"
      printf 'build %s.gch: precompile %s\n' "$name" "$name"
    fi
    begin=${begin//\//_}
    [[ $begin != - ]] || begin=''
    printf 'build %s.checked: check%s\n  header = %s\n' "$name" "${begin:+ | $begin.gch}" "$include/$header"
    printf '  begin = %s\n' "${begin:+-include $begin -Winvalid-pch}"
  done
} >"$folder/build.ninja"
echo "$(grep -c ': check' "$folder/build.ninja") headers, $(grep -c ': precompile' "$folder/build.ninja") hubs"
ninja -C "$folder" -k 0 -j "$jobs"
