# SPDX-License-Identifier: Apache-2.0
# The verb pack; sourced by ./sinter. The dynamic loader itself says what a binary loads, and confirms
# that the packed one loads nothing from elsewhere.

pack_usage() {
  cat <<'TEXT'
usage: ./sinter pack BINARY [--out PATH] [--no-libtorch] [--license NAME=FILE]…

Makes a folder with a binary, all libraries that it loads, and their licences. It runs on every Linux
of this kind of processor whose glibc is new enough, for any user, from anywhere.
  --out PATH             the folder; or an archive: PATH.tar.gz, PATH.tar.xz, PATH.tar.zst
                         (default: ./NAME-linux-PROCESSOR)
  --no-libtorch          leave LibTorch out: Sinter's own products multiply, slower in fp32 on Intel's
                         processors
  --license NAME=FILE    the licence of a library, instead of what is found for it
A report goes to standard error, the path of what was made to standard output. docs/shipping.md
TEXT
}

# --- what a binary loads --------------------------------------------------------------------------

# Every Linux with glibc has these. They fit only the loader that comes with them: none is packed.
is_of_glibc() {  # SONAME
  [[ $1 =~ ^(linux-vdso|ld-linux.*|lib(c|m|mvec|pthread|dl|rt|util|resolv|anl|BrokenLocale|nss_.*|thread_db))\.so\.[0-9]+$ ]]
}

libraries_of() {  # BINARY: prints "SONAME<tab>PATH" of what it loads beside glibc, and $opened loads
  local name path
  env -u LD_PRELOAD LD_TRACE_LOADED_OBJECTS=1 "$loader" ${opened:+--preload "$opened"} "$1" \
    >"$stage/loaded" 2>"$stage/messages" ||
    die "'$1' cannot be loaded on this machine: $(tail -n 1 "$stage/messages")"
  ! grep -q 'cannot be preloaded' "$stage/messages" || die "'$1' opens $opened when it runs, and does not" \
    "find it here. Say where it is: LD_LIBRARY_PATH=FOLDER ./sinter pack …, or leave it out: --no-libtorch"
  [[ ! -s $stage/messages ]] || die "'$1' does not fit its libraries: $(tail -n 1 "$stage/messages")"
  sed -E 's/ \(0x[0-9a-f]+\)$//; s/^\t//; / => /!s/.*/& => &/; s/ => /\t/' "$stage/loaded" |
    while IFS=$'\t' read -r name path; do
      name=${name##*/}
      is_of_glibc "$name" || printf '%s\t%s\n' "$name" "$path"
    done
}

check_binary() {  # sets $loader
  [[ -e $binary ]] || die "there is no file '$binary'. $expected"
  [[ -f $binary && -r $binary ]] || die "'$binary' is not a file that can be read. $expected"
  [[ $(head -c 4 -- "$binary" | tr -d '\0') == $'\x7fELF' ]] || die "'$binary' is no binary (ELF). $expected"
  loader=$(patchelf --print-interpreter "$binary" 2>/dev/null) ||
    die "'$binary' is no program that loads libraries: it names no loader. $expected"
  [[ -x $loader ]] || die "'$binary' wants the loader $loader, which is not here." \
    "Pack it on the kind of machine that it was built for."
}

find_libraries() {  # sets $version, that of the Sinter in them, and $opened, what it opens when it runs
  local missing files
  libraries_of "$binary" >"$stage/libraries"
  missing=$(sed -n 's/\tnot found$//p' "$stage/libraries" | tr '\n' ' ')
  [[ -z $missing ]] || die "'$binary' loads what is not found here: $missing"$'\n'"Build it anew, or" \
    "say where it is: LD_LIBRARY_PATH=FOLDER ./sinter pack …"
  mapfile -t files < <(cut -f2 "$stage/libraries")
  version=$(grep -aohE -m 1 'Sinter version [0-9.]+' -- "$binary" "${files[@]}" | sed -n '1s/.* //p') || :
  [[ -n $version ]] || die "'$binary' was not built with Sinter: it bears none of its versions. $expected"
  if [[ -n $no_libtorch ]]; then
    ! grep -q '^libtorch_cpu\.so' "$stage/libraries" || die "'$binary' is linked with LibTorch, which" \
      "computes layers of its recipe (Autograd). Leave --no-libtorch out."
  elif grep -aqF libtorch_cpu.so -- "$binary" "${files[@]}"; then # as its Sinter names it
    opened=libtorch_cpu.so
    libraries_of "$binary" >"$stage/libraries"
  fi
}

# --- licences -------------------------------------------------------------------------------------

owns() {  # DIST-INFO FILE: a cache that an older Sinter has filled has no RECORD; torch/ is torch's
  if [[ -e $1/RECORD ]]; then grep -qxF -- "$2" < <(cut -d, -f1 "$1/RECORD"); else
    [[ ${1##*/} == "${2%%/*}"-* ]]
  fi
}

# Sets owner and texts: whose FILE is, and the texts of its licence. A file belongs to a package of
# Debian, to a wheel of Python (its RECORD lists it; Conan's package of LibTorch keeps those below
# licenses/), to a package of Conan, or to the folder around its lib/.
find_licence() {
  local file package folder info
  file=$(readlink -f -- "$1") || return 0
  package=$({ dpkg -S "$file" || dpkg -S "${file#/usr}"; } 2>/dev/null | sed '/^diversion /d; s/[:,].*//') || :
  package=${package%%$'\n'*}
  if [[ -n $package && -e /usr/share/doc/$package/copyright ]]; then
    read -r owner < <(dpkg-query -W -f '${source:Package}-${source:Version}\n' "$package")
    texts=("/usr/share/doc/$package/copyright")
    return
  fi
  folder=${file%/*}
  while [[ -n $folder && ${#texts[@]} == 0 ]]; do
    for info in "$folder"/*.dist-info "$folder"/licenses/*; do
      if [[ -d $info/licenses ]] && owns "$info" "${file#"$folder"/}"; then
        owner=$(basename "$info" .dist-info)
        texts=("$info"/licenses/*)
      fi
    done
    if [[ ${#texts[@]} == 0 && ($file == "$folder"/lib*/* || -e $folder/conaninfo.txt) ]]; then
      mapfile -t texts < <(compgen -G "$folder/licenses/*" || compgen -G "$folder/LICEN[CS]E*")
    fi
    folder=${folder%/*}
  done
}

pack_licence() {  # NAME FILE: sets owner, the folder of the licence; notes what has none
  local texts=()
  owner=$1
  if [[ -n ${licences[$1]:-} ]]; then texts=("${licences[$1]}"); else find_licence "$2"; fi
  if [[ ${#texts[@]} == 0 && $(readlink -f -- "$2") == "$cache"/libtorch-* ]]; then
    say "sinter: an older Sinter has put $1 into $cache without its licence; fetching it"
    "$(find_python)" "$root/scripts/fetch_libtorch.py" >/dev/null || :
    cache=/none # once
    find_licence "$2"
  fi
  if ((${#texts[@]} == 0)); then unlicensed+=$'\n'"  $1 in $2"; return; fi
  owner=${owner//\//-}
  mkdir -p "$pack/licenses/$owner"
  cp -rL --no-preserve=mode -- "${texts[@]}" "$pack/licenses/$owner"
}

# Those of the libraries, of what was compiled into the binary from headers, and Sinter's.
pack_licences() {
  local name file owner unlicensed='' common=$pack/licenses/common-licenses
  for name in "${headers[@]%:*}"; do
    printf '%s\t%s\n' "$name" "$(header_at "$name" || echo 'no folder of headers')"
  done | cat "$stage/libraries" - >"$stage/licensed"
  printf 'bin/%s\tsinter-%s\n' "$program" "$version" >"$stage/owners"
  while IFS=$'\t' read -r name file; do
    pack_licence "$name" "$file"
    [[ $name == */* || $name == *.h ]] || name=lib/$name
    printf '%s\t%s\n' "$name" "$owner" >>"$stage/owners"
  done <"$stage/licensed"
  mkdir -p "$pack/licenses/sinter-$version" "$common"
  cp --no-preserve=mode "$root/LICENSE" "$pack/licenses/sinter-$version"
  # Debian's texts name the usual licences by their path.
  for file in $(grep -rhoE '/usr/share/common-licenses/[A-Za-z0-9.+-]*[A-Za-z0-9+]' "$pack/licenses" | sort -u); do
    [[ ! -e $file ]] || cp -L --no-preserve=mode "$file" "$common"
  done
  [[ -z $unlicensed ]] || die "no licence was found of$unlicensed"$'\n'"Debian's packages have it in" \
    "their copyright, wheels in their licenses, other libraries in licenses/ or LICENSE beside their" \
    "lib/. Name the text of each: --license NAME=FILE, with NAME as it stands above."
}

# --- the pack -------------------------------------------------------------------------------------

size_in_words() { numfmt --to=iec-i --format=%.1f "$1" | sed -E 's/[KMG]i$/ &B/'; }
size_of() { size_in_words "$(du -sb -- "$1" | cut -f1)"; }

# One DT_RPATH, that of the binary, serves all libraries, and goes before LD_LIBRARY_PATH: what was
# packed is what runs. Theirs would lead out of the pack. Taking one away moves nothing in a file;
# what has none, as NVIDIA's, stays as it is to the bit.
pack_binary() {
  local name file outside
  mkdir "$pack/bin" "$pack/lib"
  cp --no-preserve=mode -- "$binary" "$pack/bin/$program"
  patchelf --force-rpath --set-rpath "\$ORIGIN/../lib" "$pack/bin/$program"
  chmod 755 "$pack/bin/$program"
  while IFS=$'\t' read -r name file; do
    cp --no-preserve=mode -- "$file" "$pack/lib/$name"
    [[ -z $(patchelf --print-rpath "$pack/lib/$name") ]] || patchelf --remove-rpath "$pack/lib/$name"
  done <"$stage/libraries"
  libraries_of "$pack/bin/$program" >"$stage/packed"
  outside=$(cut -f2 "$stage/packed" | grep -vF "$pack/bin/../lib/" | tr '\n' ' ') || :
  [[ -z $outside ]] || die "the packed binary would load what is not in the pack: $outside"$'\n'"A library" \
    "without a soname is linked by its path. Link it with -Wl,-soname,NAME, and build anew."
}

table() {  # the largest first: size, file, and the folder of its licence
  local name owner bytes
  while IFS=$'\t' read -r name owner; do
    bytes=$(stat -c %s "$pack/$name" 2>/dev/null || echo 0)
    printf '%s\t%s\t%s\n' "$bytes" "$name" "$owner"
  done <"$stage/owners" | sort -k 1,1nr -k 2 | while IFS=$'\t' read -r bytes name owner; do
    ((bytes)) && bytes=$(size_in_words "$bytes") || bytes='compiled in'
    printf '%11s  %-20s  %s\n' "$bytes" "$name" "$owner"
  done
}

describe_pack() {
  needs=$(find "$pack/bin" "$pack/lib" -type f -exec objdump -p {} + | grep -oE 'GLIBC_2\.[0-9]+' | sort -Vu | tail -n 1)
  needs="Linux on $(uname -m) with glibc ${needs#GLIBC_} or newer"
  cat >"$pack/README.txt" <<TEXT
$program, made with Sinter $version. It begins with: bin/$program --help

It needs $needs, and nothing else. Where this folder lies
does not matter; its parts stay together. Without /proc its libraries are found if LD_ORIGIN_PATH
names the folder bin/. Whether all is as it was packed says: sha256sum --quiet -c SHA256SUMS

$(table)

The last column names the folder of the licence in licenses/, and where a text there speaks of
/usr/share/common-licenses, see licenses/common-licenses. libgomp, libgcc_s and libstdc++ are GCC's,
whatever they came with.
TEXT
  (cd "$pack" && find . -type f ! -name SHA256SUMS -print0 | LC_ALL=C sort -z | xargs -0 sha256sum >SHA256SUMS)
}

archive() {  # the same bytes for the same pack: order, dates and owners are fixed
  local compress
  case $out in
    *.gz) compress='gzip -n' ;;
    *.xz) compress='xz -T2' ;;
    *.zst) compress='zstd -q -10 -T2' ;;
  esac
  say "sinter: archiving $(size_of "$pack")"
  tar --sort=name --mtime=@315532800 --owner=0 --group=0 --numeric-owner --format=gnu \
    -C "$stage/pack" -I "$compress" -cf "$stage/archive" -- "${pack##*/}"
  chmod 644 "$stage/archive"
}

read_pack_options() {  # sets binary, out, no_libtorch and licences
  while (($#)); do
    case $1 in
      --help | -h) pack_usage; exit ;;
      --out | --license) (($# > 1)) || die "$1 wants a value. ./sinter pack --help"; set -- "$1=$2" "${@:3}"; continue ;;
      --out=?*) out=${1#*=} ;;
      --no-libtorch) no_libtorch=yes ;;
      --license=*=*)
        [[ -f ${1#*=*=} ]] || die "there is no file '${1#*=*=}' that --license names."
        licences[$(cut -d= -f2 <<<"$1")]=${1#*=*=} ;;
      -*) die "pack has no option '$1', or not with this value. ./sinter pack --help lists them." ;;
      *) [[ -z $binary ]] || die "pack takes one binary, and here are two: '$binary' and '$1'"; binary=$1 ;;
    esac
    shift
  done
  [[ -n $binary ]] || die "pack wants a binary: ./sinter pack \$(./sinter build). ./sinter pack --help"
}

install_pack_tools() {
  local missing=()
  have patchelf || missing+=(patchelf)
  have objdump || missing+=(binutils)
  [[ $out != *.xz ]] || have xz || missing+=(xz-utils)
  [[ $out != *.zst ]] || have zstd || missing+=(zstd)
  ((${#missing[@]} == 0)) || install_packages "${missing[@]}"
}

# Everything is made in a folder beside the place where it will stand, and renamed when it is whole.
verb_pack() {
  local binary='' out='' no_libtorch='' opened='' program top pack loader version needs cache
  local expected='Expected a program built with Sinter, as ./sinter build prints it.'
  local -A licences=()
  read_pack_options "$@"
  program=$(basename -- "$binary")
  out=${out:-./$program-linux-$(uname -m)}
  out=${out%/}
  case $out in
    *.tar.gz | *.tar.xz | *.tar.zst) top=$(basename -- "${out%.tar.*}") ;;
    *.tar | *.tar.* | *.t?z | *.zip) die "'$out': archives end with .tar.gz, .tar.xz or .tar.zst." ;;
    *) top=$(basename -- "$out") ;;
  esac
  [[ ! -e $out && ! -L $out ]] || die "'$out' exists. Remove it, or name another place with --out."
  [[ -d $(dirname -- "$out") ]] || die "there is no folder '$(dirname -- "$out")' to put the pack into."
  install_pack_tools
  check_binary
  binary=$(readlink -f -- "$binary")
  cache=$(readlink -m -- "${SINTER_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/sinter}")

  umask 022
  stage=$(mktemp -d -- "$out.part-XXXXXX") || die "'$(dirname -- "$out")' cannot be written into."
  stage=$(readlink -f -- "$stage")
  pack=$stage/pack/$top
  trap 'status=$?; rm -rf -- "$stage"; ((!status)) || say "sinter: nothing was packed, and nothing is left of it."' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  mkdir -p -- "$pack"
  find_libraries
  pack_binary
  pack_licences
  describe_pack
  table | grep -v 'compiled in' >&2
  say "$(size_of "$pack") in all, with $(wc -l <"$stage/libraries") libraries. It needs $needs."
  if [[ $out == *.tar.* ]]; then
    archive
    say "$(size_of "$stage/archive") as an archive."
    mv -T -- "$stage/archive" "$out"
  else mv -T -- "$pack" "$out"; fi
  printf '%s\n' "$out"
}
