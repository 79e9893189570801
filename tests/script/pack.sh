# SPDX-License-Identifier: Apache-2.0
# pack: the libraries and licences that a binary needs, wherever it then runs; nothing, where one of
# them is missing. The small program stands for a binary of Sinter, the last one is one.
. "$root/tests/script/lib/check.bash"
export SINTER_CACHE=${SINTER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sinter}
place=$scratch/place
mkdir -p "$place" "$scratch/a library/lib" "$scratch/other"
cd "$place"

greeting() {  # FOLDER TEXT [OPTION…]: libgreeting.so
  echo "const char* greeting() { return \"$2\"; }" |
    "$CXX" -x c++ -shared -fPIC -Wl,-soname,libgreeting.so "${@:3}" -o "$1/libgreeting.so" -
}
greeting "$scratch/a library/lib" hello "-Wl,-rpath,$scratch/other"
greeting "$scratch/other" 'not packed'
cat >"$scratch/greet.cpp" <<'TEXT'
#include <cstdio>
const char* greeting();
const char* volatile version = "Sinter version 9.8.7";
int main() { std::puts(greeting()); }
TEXT
program="$scratch/my greeter"
"$CXX" "$scratch/greet.cpp" -o "$program" "$scratch/a library/lib/libgreeting.so" "-Wl,-rpath,$scratch/a library/lib"
licence=$scratch/a\ library/LICENSE
echo 'Be kind.' >"$licence"

# The folder: it runs when it was moved and the library is gone, and takes no other in its stead.
expect 0 "$sinter" pack "$program"
says 'lib/libgreeting.so'
says ' in all, with '
grep -qE 'It needs Linux on [a-z0-9_]+ with glibc 2\.[0-9]+ or newer' "$scratch/output" || fail 'no glibc is said'
folder=$place/$(basename "$(tail -n 1 "$scratch/output")")
[[ -d $folder ]] || fail "the last line is not the folder: $folder"
[[ $(find "$place" -mindepth 1 -maxdepth 1 | wc -l) == 1 ]] || fail 'something is left beside it'
(cd "$folder" && sha256sum --quiet -c SHA256SUMS) || fail 'SHA256SUMS does not fit'
[[ $(sed 's/.* //' "$folder/SHA256SUMS" | wc -l) == $(find "$folder" -type f ! -name SHA256SUMS | wc -l) ]] ||
  fail 'SHA256SUMS lacks files'
grep -q 'made with Sinter 9.8.7' "$folder/README.txt" || fail 'README.txt lacks the version'
mv "$scratch/a library/lib" "$scratch/gone"
mv "$folder" "$scratch/moved"
expect 0 env LD_LIBRARY_PATH="$scratch/other" "$scratch/moved/bin/my greeter"
says hello
mv "$scratch/gone" "$scratch/a library/lib"
expect 0 find "$scratch/moved" -name 'lib*.so*' -printf '%f\n' # nothing of glibc
for name in libc libm libpthread ld-linux; do is_silent_about "$name"; done
is_silent_about libc.so
expect 0 find "$scratch/moved" ! -type d ! -perm 644 -printf '%P %m\n'
[[ $(<"$scratch/output") == 'bin/my greeter 755' ]] || fail 'files that are neither readable nor one program'

# Licences: Sinter's, that of each library and of what headers bring, those that texts refer to.
in_licenses() { compgen -G "$scratch/moved/licenses/$1" >/dev/null || fail "licenses/ lacks $1"; }
for text in sinter-9.8.7/LICENSE common-licenses/Apache-2.0 libgreeting.so/LICENSE; do in_licenses "$text"; done
if [[ -e /usr/share/doc/libboost1.81-dev ]]; then in_licenses 'boost1.81-*/copyright'; fi
diff /usr/share/common-licenses/Apache-2.0 "$scratch/moved/licenses/common-licenses/Apache-2.0"
rm "$licence"
refused() {  # MESSAGE COMMAND…: fails with it, and leaves nothing
  local message=$1
  shift
  expect 1 "$@"
  says "$message"
  [[ -z $(ls -A "$place") ]] || fail "left behind by $*: $(ls -A "$place")"
}
refused "  libgreeting.so in $scratch/a library/lib/libgreeting.so" "$sinter" pack "$program"
says '--license NAME=FILE'
echo 'Be kind!' >"$scratch/named"
expect 0 "$sinter" pack "$program" --out libraries --license "libgreeting.so=$scratch/named" # any name will do
rm -r libraries
expect 0 "$sinter" pack "$program" --out named --license "libgreeting.so=$scratch/named"
grep -q 'kind!' "$place/named/licenses/libgreeting.so/named" || fail 'the named licence is not there'

# What exists stays as it is.
expect 1 "$sinter" pack "$program" --out named
says "'named' exists. Remove it"
rm -r "$place/named"

# The licence of a wheel's file is that of the wheel. One that an older Sinter left in the cache without it is
# completed (by a python that plays scripts/fetch_libtorch.py).
cache=$scratch/cache/libtorch-9.9
mkdir -p "$cache/vendor"
mv "$scratch/a library/lib/libgreeting.so" "$cache/vendor"
fake python3 <<TEXT
[[ \$* != '-m pip --version' ]] || exit 0
mkdir -p '$cache/vendor_greeting-1.2.dist-info/licenses'
echo 'Be brief.' >'$cache/vendor_greeting-1.2.dist-info/licenses/LICENSE'
seq -f 'vendor/file%g,sha256=x,1' 100000 >'$cache/vendor_greeting-1.2.dist-info/RECORD'
[[ \$FETCH == fails ]] || echo 'vendor/libgreeting.so,sha256=x,1' >>'$cache/vendor_greeting-1.2.dist-info/RECORD'
TEXT
wheel() { env PATH="$scratch/bin:$PATH" SINTER_CACHE="$scratch/cache" LD_LIBRARY_PATH="$cache/vendor" "$@"; }
refused '  libgreeting.so in ' wheel FETCH=fails "$sinter" pack "$program"
expect 0 wheel FETCH=works "$sinter" pack "$program" --out wheel
says "an older Sinter has put libgreeting.so into $scratch/cache without its licence"
grep -q brief "$place/wheel/licenses/vendor_greeting-1.2/LICENSE" || fail "the wheel's licence is not there"
rm -r "$place/wheel"

# So it is in a package of Conan, which keeps its wheels' or its own licences in licenses/.
mkdir "$cache/licenses"
touch "$cache/conaninfo.txt"
mv "$cache/vendor_greeting-1.2.dist-info" "$cache/licenses/vendor_greeting-1.2"
expect 0 wheel FETCH=none "$sinter" pack "$program" --out conan
is_silent_about 'without its licence'
grep -q brief "$place/conan/licenses/vendor_greeting-1.2/LICENSE" || fail "the wheel's licence is not there"
rm -r "$place/conan" "$cache"/licenses/*
echo 'Be clear.' >"$cache/licenses/LICENSE"
expect 0 wheel FETCH=none "$sinter" pack "$program" --out conan
grep -q clear "$place/conan/licenses/libgreeting.so/LICENSE" || fail "the package's licence is not there"
rm -r "$place/conan" "$cache/licenses"

# What is no binary of Sinter, or lacks something.
refused "'$program' loads what is not found here: libgreeting.so" "$sinter" pack "$program"
mv "$cache/vendor/libgreeting.so" "$scratch/a library/lib/libgreeting.so"
refused "there is no file '$scratch/none'" "$sinter" pack "$scratch/none"
refused "is not a file that can be read" "$sinter" pack "$scratch"
refused "is no binary (ELF)" "$sinter" pack "$sinter"
refused 'it names no loader' "$sinter" pack "$scratch/other/libgreeting.so"
refused 'was not built with Sinter' "$sinter" pack /bin/ls
refused "there is no folder './none'" "$sinter" pack "$program" --out ./none/x
refused 'archives end with .tar.gz' "$sinter" pack "$program" --out x.zip
refused 'pack wants a binary' "$sinter" pack
refused "has no option '--fast'" "$sinter" pack "$program" --fast
refused '--out wants a value' "$sinter" pack "$program" --out
refused "there is no file 'none'" "$sinter" pack "$program" --license libgreeting.so=none
refused 'here are two' "$sinter" pack "$program" "$program"
echo "$licence" >"$licence"
"$CXX" -x c++ "$scratch/greet.cpp" -x none -o "$scratch/by path" "$scratch/other/libgreeting.so" # its path becomes …
patchelf --replace-needed libgreeting.so "$scratch/other/libgreeting.so" "$scratch/by path"      # … its name
refused "would load what is not in the pack: $scratch/other/libgreeting.so" "$sinter" pack "$scratch/by path"
full() { (ulimit -f 64; trap '' XFSZ; "$@"); } # a write beyond 64 KiB fails, as on a full disk
refused 'nothing was packed, and nothing is left of it' full "$sinter" pack "$program"

# Archives: the same pack, the same bytes.
for ending in gz xz zst; do
  expect 0 "$sinter" pack "$program" --out "one.tar.$ending"
  mkdir "$place/$ending"
  expect 0 "$sinter" pack "$program" --out "$ending/one.tar.$ending"
  cmp "one.tar.$ending" "$ending/one.tar.$ending" || fail "two archives (.$ending) of one program differ"
  tar -C "$ending" -xf "one.tar.$ending"
  expect 0 "$ending/one/bin/my greeter"
  says hello
done
rm -r "${place:?}"/*

# --- a binary of Sinter, in a folder that is all there is -------------------------------------------

"$sinter" build >"$scratch/output" 2>&1 || fail 'build failed'
binary=$(tail -n 1 "$scratch/output")
empty=$scratch/empty
mkdir -p "$empty/opt" "$empty/work" "$empty/proc"
umask 077 # not that of the pack
expect 0 "$sinter" pack "$binary" --out "$empty/opt/pack"
[[ -e $empty/opt/pack/lib/libtorch_cpu.so ]] || fail 'LibTorch, which the binary opens, was not packed'
loaded() { LD_TRACE_LOADED_OBJECTS=1 LD_PRELOAD=libtorch_cpu.so "$binary"; } # and what it opens
if loaded | grep -F " $SINTER_CACHE/libtorch-" >/dev/null; then
  for name in torch-2 nvidia_cuda_runtime nvidia_cuda_cupti; do
    compgen -G "$empty/opt/pack/licenses/$name*/*" >/dev/null || fail "the licence of $name is missing"
  done
fi
loaded | sed -nE 's/ \(0x.*//; s/^\t(.* => )?//p' |
  grep -E '/(ld-linux[^/]*|lib(c|m|pthread|dl|rt|util))\.so\.[0-9]$' | while read -r file; do
  mkdir -p "$empty$(dirname "$file")"
  cp -L "$file" "$empty$file"
done
cat "$root"/include/sinter/program/*.hpp >"$empty/work/text"
find "$empty" -path "$empty/opt/pack" -prune -o -exec chmod a+rX {} +
chmod a+rwx "$empty/work"

# As user 65534, with no environment. $ORIGIN is where /proc/self/exe says; without /proc, where
# LD_ORIGIN_PATH says.
if [[ $(id -u) == 0 ]]; then
  namespaces=()
  enter=("$(PATH=$PATH:/usr/sbin command -v chroot)" --userspec=65534:65534 "$empty")
else
  namespaces=(--user --map-root-user)
  enter=("$(command -v unshare)" --user --map-user=65534 --map-group=65534 "--root=$empty" --)
fi
without_proc() { env -i LD_ORIGIN_PATH=/opt/pack/bin "${enter[@]}" "$@"; }
with_proc() {
  unshare "${namespaces[@]}" --mount bash -c 'mount --rbind /proc "$0/proc" && exec env -i "$@"' \
    "$empty" "${enter[@]}" "$@"
}
packed=/opt/pack/bin/$(basename "$binary")
if ! without_proc /lib64/ld-linux-x86-64.so.2 --version >"$scratch/output" 2>&1; then
  [[ $SINTER_CI != ON ]] || fail 'neither chroot nor unshare works here'
  echo 'skipped: neither chroot nor unshare works here, so no empty root was made'
  exit
fi
inside=with_proc
if ! with_proc /lib64/ld-linux-x86-64.so.2 --version >"$scratch/output" 2>&1; then inside=without_proc; fi

expect 0 $inside "$packed" describe
says 'recipe  bytes_gpt2: '
expect 0 $inside "$packed" train --data /work/text --steps 3 --out /work/run
says 'Done after 3 steps; saved in /work/run/step-00000003'
expect 0 $inside "$packed" generate --weights /work/run --prompt 'int ' --tokens 3 --seed 1
[[ $(id -u) != 0 || $(stat -c %u "$empty/work/run/lock") == 65534 ]] || fail 'it ran as another user than 65534'

# What it learns is to the bit what the binary learns that was not packed.
expect 0 "$binary" train --data "$empty/work/text" --steps 3 --out "$scratch/run"
cmp "$empty/work/run/step-00000003/model.safetensors" "$scratch/run/step-00000003/model.safetensors" ||
  fail 'the packed binary computes something else'

# Without LibTorch: small, and whole.
expect 0 "$sinter" pack "$binary" --out "$empty/opt/small" --no-libtorch
(($(du -sk "$empty/opt/small/bin" "$empty/opt/small/lib" | awk '{ n += $1 } END { print n }') < 20480)) ||
  fail 'a pack without LibTorch is larger than 20 MiB'
expect 0 $inside "/opt/small/bin/$(basename "$binary")" train --data /work/text --steps 3 --out /work/small
says "matmul  fp32: multiplied as it is, by Sinter's own products"
says 'Done after 3 steps'
binary_of_torch=$root/build/$(basename "$CXX")-release/bin/mnist_cnn
if [[ -e $binary_of_torch ]]; then
  expect 1 "$sinter" pack "$binary_of_torch" --out "$empty/opt/torch" --no-libtorch
  says 'is linked with LibTorch'
fi

# Without /proc and /dev, too: no figure that was not measured; closed outputs stay out of files.
expect 0 without_proc "$packed" describe
is_silent_about 'measured now'
without_proc "$packed" train --data /work/text --steps 2 --out /work/closed <&- >&- 2>&- ||
  fail "with closed outputs it exits $?"
[[ $(wc -l <"$empty/work/closed/lock") == 2 ]] || fail "in the lock: $(cat "$empty/work/closed/lock")"
[[ $(grep -c '^{.*}$' "$empty/work/closed/metrics.jsonl") == 2 ]] || fail 'the log has other lines than rows'
