# SPDX-License-Identifier: Apache-2.0
# The verb run; sourced by ./sinter.

thousands() { sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta' <<<"$1"; }

default_text() {  # prints the folder of the default text; makes it where it is missing
  local found folder
  found=$(libtorch)
  folder=${SINTER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sinter}/text/cpp-headers-${found##* }
  [[ -d $folder ]] || bash "$root/scripts/collect_text.sh" "${found% *}/include" "$folder"
  printf '%s\n' "$folder"
}

# Lists the files of the data as the trainer reads them: folders sorted by path, without hidden
# files and folders of runs.
data_files() {
  local path
  for path in "$@"; do
    if [[ ! -d $path ]]; then printf '%s\0' "$path"; continue; fi
    find -L "$path" -mindepth 1 -name '.*' -prune -o \
      -type d -exec test -f '{}/lock' ';' -exec test -f '{}/metrics.jsonl' ';' -prune -o \
      -type f -print0 | LC_ALL=C sort -z
  done
}

# Reads the options of train: fills data and out, and remembers what changes the report. A run that
# is resumed knows its data.
read_options() {
  local option='' word
  for word in "$@"; do
    case $word in
      --data=*) data+=("${word#*=}"); option='' ;;
      --out=*) out=${word#*=}; option='' ;;
      --json) report=2; option='' ;;
      --help | -h) help_only=1 ;;
      --resume | --resume=*) resume=1; option='' ;;
      -*) option=$word ;;
      *)
        case $option in
          --data) data+=("$word") ;;
          --out) out=$word; option='' ;;
        esac ;;
    esac
  done
}

# Compares the trainer's last evaluation of the held-out text with xz on the same bytes.
# Nothing is held out with --order sequential.
compare_with_xz() {
  local loss bytes packed
  loss=$(sed -nE 's/.*"val_loss":([0-9.eE+-]+).*/\1/p' "$out/metrics.jsonl" | tail -n 1)
  [[ -n $loss ]] || return 0
  bytes=$(($(data_files "${data[@]}" | xargs -0 cat | wc -c) / 10))
  packed=$(data_files "${data[@]}" | xargs -0 cat | tail -c "$bytes" | xz -9 -c | wc -c)
  printf '\nOn the last 10%% of the data, %s bytes that were held out:\n' "$(thousands "$bytes")"
  awk -v loss="$loss" -v packed="$packed" -v bytes="$bytes" 'BEGIN {
    printf "  this model  %.3f bits per byte\n", loss / log(2)
    printf "  xz -9       %.3f bits per byte\n", 8 * packed / bytes }'
}

verb_run() {
  local data=() out='' report=1 help_only=0 resume=0 status=0 more=()
  read_options "$@"
  set_up run
  build_recipe "$default_recipe"
  if ((help_only)); then exec "$binary" train --help; fi
  if ((${#data[@]} == 0)) && ! { ((resume)) && [[ -f $out/run.json ]]; }; then
    data=("$(default_text)")
    more+=(--data "${data[@]}")
  fi
  if [[ -z $out ]]; then
    out=$root/runs/$(date +%Y%m%d-%H%M%S)-$$
    more+=(--out "$out")
  fi

  "$binary" train "$@" "${more[@]}" || status=$?
  if ((status == 75)); then
    say "sinter: stopped and saved. To go on: ./sinter run --resume --out $out"
  fi
  ((status == 0)) || exit "$status"

  {
    ((${#data[@]} == 0)) || compare_with_xz
    printf '\nA sample of what it writes:\n\n'
    "$binary" generate --weights "$out" --prompt "$sample_prompt" --tokens 500 --temperature 0.8 --seed 1
    cat <<TEXT

The checkpoint: $(readlink -f "$out/best" || readlink -f "$out/last")
Try next:
  ./sinter run --data YOUR_FOLDER      the same model learns your own text
  $binary generate --weights $out --prompt 'class '
  ./sinter build FILE.cpp              a recipe of your own: docs/tutorial.md begins with one
TEXT
  } >&"$report"
}
