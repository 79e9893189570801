# SPDX-License-Identifier: Apache-2.0
# The verb new: copies examples/project under another name. Sourced by ./sinter.

# Prints why NAME cannot be that of a project, its binary and its C++ namespace; nothing if it can.
why_no_name() {
  local name=$1
  if [[ ! $name =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]]; then
    echo "it becomes a C++ namespace, and so has letters, digits, underscores and dashes only, no digit first"
  elif ! printf 'namespace %s { int std; }\n' "$name" | "$compiler" -std=c++20 -fsyntax-only -x c++ - 2>/dev/null; then
    echo 'it is a word of C++'
  elif [[ " all clean depend edit_cache gradients help install list_install_components package
      package_source preinstall rebuild_cache sinter small_reader std test tests " == *[[:space:]]"$name"[[:space:]]* ]]; then
    echo "CMake, Sinter or the project's own code uses it for something else"
  fi
}

# Prints the prefix of an installed Sinter of this version that CMake will find; nothing if there is none.
installed_sinter() {
  local version prefix found
  version=$(sed -nE 's/^project\(Sinter VERSION ([0-9]+\.[0-9]+).*/\1/p' "$root/CMakeLists.txt")
  while read -rd : prefix; do
    [[ -n $prefix ]] || continue
    for found in "$prefix"/lib*/cmake/Sinter "$prefix"/lib/*/cmake/Sinter; do
      if [[ -e $found/SinterLibrary.cmake ]] &&
        grep -qF "set(PACKAGE_VERSION \"$version." "$found/SinterConfigVersion.cmake" 2>/dev/null; then
        readlink -f -- "$prefix"
        return
      fi
    done
  done <<<"${CMAKE_PREFIX_PATH:-}:${HOME:-}/sinter:${HOME:-}/.local:/usr/local:/usr:"
}

verb_new() {
  (($# == 1)) || die "new takes the folder of the new project, and nothing else: ./sinter new DIR"
  [[ -n $1 && $1 != -* ]] || die "new takes a folder, no options: '$1'"
  local folder name why installed
  folder=$(readlink -m -- "$1")
  name=${folder##*/}
  name=${name//-/_}
  [[ $folder/ != "$root"/* ]] || die "$folder lies inside Sinter's own source tree. Name a folder outside it."
  [[ ! -e $folder || -d $folder && -z $(ls -A -- "$folder") ]] ||
    die "$folder exists already, and is no empty folder. Name another one; nothing has been changed."
  set_up build
  why=$(why_no_name "$name")
  [[ -z $why ]] || die "'${folder##*/}' cannot be a project's name: $why. Name the folder otherwise, such as my_reader."

  mkdir -p -- "$folder" && cp -R -- "$root/examples/project/." "$folder" &&
    mkdir -p -- "$folder/profiles" && cp -- "$root/packaging/conan/profiles/debian12" "$folder/profiles" ||
    die "the project could not be written to $folder; the message above says why."
  mv -- "$folder/src/my_project.cpp" "$folder/src/$name.cpp"
  rename_project "$folder" "$name"
  installed=$(installed_sinter)
  say "sinter: a project of your own is in $folder; its binary and its C++ namespace are called $name."
  if [[ -n $installed ]]; then
    use_prefix "$folder" "$installed"
    say "sinter: it uses the Sinter that is installed in $installed, so that a build takes some 20 seconds. Next:"
  else
    say "sinter: its first build compiles Sinter, too: about 3 minutes on two cores and 1 GiB of memory for each." \
      "Later ones take some 20 seconds. An installed Sinter spares that, see $root/docs/packaging.md. Next:"
  fi
  printf '%s\n' "  cd $(printf %q "$folder")" \
    '  cmake --preset release && cmake --build --preset release && ctest --preset release' \
    "  build/release/$name describe"
}

# Lets the presets of the project in FOLDER name the PREFIX of an installed Sinter.
use_prefix() {  # FOLDER PREFIX
  local json
  json=$(sed 's/["\\]/\\&/g' <<<"$2" | sed 's/[\\&|]/\\&/g')
  sed -i "s|\"CMAKE_BUILD_TYPE\": \"Release\",|&\n        \"CMAKE_PREFIX_PATH\": \"$json\",|" "$1/CMakePresets.json"
}

# Puts NAME for my_project in the files of FOLDER, and this source tree for what stands for it. The
# licence's lines go: what a user makes of the project is the user's.
rename_project() {  # FOLDER NAME
  local class source json
  class=$(sed -E 's/(^|_+)(.)/\u\2/g' <<<"$2")
  source=$(sed 's/[\\&|]/\\&/g' <<<"$root")
  json=$(sed 's/["\\]/\\&/g' <<<"$root" | sed 's/[\\&|]/\\&/g')
  find "$1" -type f -exec sed -i -e '/SPDX-License-Identifier/d' -e "s|my_project|$2|g" \
    -e "s|MyProject|$class|g" -e "s|\${sourceDir}/../..|$json|" -e "s|@SINTER_SOURCE@|$source|g" {} +
  if ! compiler_fits c++; then # CMake would take it
    sed -i "s|\"CMAKE_BUILD_TYPE\": \"Release\",|&\n        \"CMAKE_CXX_COMPILER\": \"$compiler\",|" \
      "$1/CMakePresets.json"
  fi
}
