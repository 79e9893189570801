# SPDX-License-Identifier: Apache-2.0
# The words of code, and what pages of docs/ say of it.

# Every word of the sources in the named folders, comments left out, one a line, sorted.
words_of_code() {
  find "$@" -name '*.hpp' -o -name '*.cpp' -o -name '*.py' | xargs sed 's,//.*,,' |
    grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u
}

# The text of a page without its fenced blocks.
prose_of() { awk '/^ *```/ { fenced = !fenced; next } !fenced' "$1"; }

# What stands between backquotes on a page, one a line.
code_of() { { prose_of "$1" | tr '\n' ' ' | grep -oE '`[^`]+`' || true; } | tr -d '`' | sort -u; }

# Of such lines: those that are paths, those that are names. What is neither, as a command, a flag
# or a line of text, is left out: it begins with a dash or ./, or has a word, a blank and a word.
is_path='^[A-Za-z0-9_.*-]*(/[A-Za-z0-9_.*-]*)+$|^[A-Za-z0-9_-]+\.(hpp|cpp|md|sh|cmake|json)$'
is_command='^(-|\./)|^[a-z]+ [a-z-]'
paths_in() { grep -E "$is_path" | grep -vE '^(\./|~|/)|(^|/)(NAME|ROOM|FILE|FOLDER)' || true; }
names_in() {
  grep -vE "$is_path" | grep -vE "$is_command" | sed -E 's/"[^"]*"//g' |
    grep -oE '[A-Za-z_][A-Za-z0-9_]+' | sort -u || true
}

# The blocks of C++ on a page, without comments and strings.
blocks_of() {
  awk '/^ *```cpp/ { fenced = 1; next } /^ *```/ { fenced = 0 } fenced' "$1" |
    sed -E 's,//.*,,; s/"[^"]*"//g'
}
