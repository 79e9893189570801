# SPDX-License-Identifier: Apache-2.0
# The verb reference; sourced by ./sinter.

# Makes the reference in FOLDER; Doxygen's warnings go to the file WARNINGS.
make_reference() {  # FOLDER WARNINGS
  local css=/usr/share/doxygen-awesome-css/doxygen-awesome.css version
  version=$(sed -nE 's/^project\(Sinter VERSION ([0-9.]+).*/\1/p' "$root/CMakeLists.txt")
  mkdir -p "$1"
  {
    cat "$root/docs/reference/Doxyfile"
    printf 'PROJECT_NUMBER = %s\nOUTPUT_DIRECTORY = "%s"\nWARN_LOGFILE = "%s"\n' "$version" "$1" "$2"
    [[ ! -e $css ]] || printf 'HTML_EXTRA_STYLESHEET = %s\n' "$css"
  } | (cd "$root" && doxygen -) >&2 || die "doxygen could not make the reference; it says why above."
}

verb_reference() {
  (($# == 0)) || die "reference takes no options: $*"
  have doxygen || install_packages doxygen doxygen-awesome-css
  rm -rf "$root/build/reference"
  make_reference "$root/build/reference" "$root/build/reference/warnings.txt"
  printf '%s\n' "$root/build/reference/html/index.html"
}
