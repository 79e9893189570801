# SPDX-License-Identifier: Apache-2.0
# The verb tune; sourced by ./sinter.

tune_usage() {
  cat <<'TEXT'
usage: ./sinter tune FILE.cpp [OPTION…] [-- WORD…]

Plans the recipe of FILE.cpp with each combination of policies that may make it faster or smaller, and
prints what each needs. With --data it then trains some of them, and says which is the fastest. With
--sweep it trains the recipe as it is, once for each value of an option, and says which is best. With
--lr-range it trains it once, while the learning rate rises, and suggests a rate.

  --slots A,B     the slots that may change, of precision, memory, batch (the micro-batch), batching,
                  parallel (ranks) and optimizer; default: all but optimizer, since the others leave what
                  is learnt as it is
  --ranks N       plan for 2, 4 and up to N ranks, at most 8; default: 2
  --memory SIZE   leave out what plans more than SIZE, such as 8GiB, all ranks together
  --json FILE     write all combinations to a file, too; with --data, what the race has measured

  --data PATH…    race combinations on these data, in processes of their own
  --arms N        let at most N combinations take part, as each is compiled; default: 12
  --rounds N      let all of them run N rounds, 8 at most; default: the slower half leaves after each,
                  until the first is sure
  --minutes M     end the race after M minutes, compiling not counted; default: 10
  --out DIR       the race's folder; the same command goes on with what is there; default:
                  runs/tune/NAME of NAME.cpp
  --write FILE    write the recipe's file anew, with the fastest policies
  -- WORD…        give each train these words, too, such as --tokenizer PATH

  --sweep SLOT.OPTION=VALUES
                  with --data: train with these values, such as optimizer.lr=1e-4..1e-2:6 (six, by equal
                  factors) or schedule.warmup=0,100; if given again, with all combinations. --out is the
                  folder of the runs; --minutes, --json and -- as above, but without a default for minutes
  --trials N      draw N of the combinations at random; LOW..HIGH without a count is then any value
  --seed S        draw others; default: 0

  --lr-range [LOW..HIGH[:STEPS]]
                  with --data: train while optimizer.lr rises from LOW to HIGH by an equal factor in each
                  of STEPS steps; default: 1e-7..1:100. --out is the folder of the picture; --minutes,
                  --json and -- as for --sweep
TEXT
}

check_slots() {  # NAMES, with commas
  local name all=,$1,
  [[ $all != *,,* ]] || die "--slots takes names with commas between, such as precision,memory, not '$1'."
  for name in ${1//,/ }; do
    [[ " precision memory batch batching parallel optimizer " == *" $name "* ]] ||
      die "--slots: there is no slot '$name' that tune changes. It takes some of precision, memory, batch," \
        "batching, parallel and optimizer."
  done
}

check_data() {
  local path
  ((${#data[@]} > 0)) || die "--data takes files or folders to train on."
  for path in "${data[@]}"; do
    [[ -e $path ]] || die "--data: there is no file or folder '$path'."
  done
}

check_race() {  # fills what is not given; the program checks numbers
  : "${arms=12}" "${minutes=10}" "${out:=runs/tune/$(basename -- "$file" .cpp)}"
  [[ $arms =~ ^[1-9][0-9]{0,3}$ ]] || die "--arms takes a number from 1 to 9999, not '$arms'."
  [[ ! -v rounds || $rounds =~ ^[1-8]$ ]] || die "--rounds takes a number from 1 to 8, not '$rounds'."
  [[ $minutes =~ ^[0-9]+(\.[0-9]+)?$ && $minutes =~ [1-9] ]] ||
    die "--minutes takes a number above 0, not '$minutes'."
  [[ ! -e $write ]] || die "--write: '$write' is there already. Name another file, or remove it; nothing was changed."
  [[ -z $write || -d $(dirname -- "$write") ]] || die "--write: there is no folder '$(dirname -- "$write")'."
  [[ -z $write || $(dirname -- "$write") -ef $(dirname -- "$file") ]] || ! grep -q '^#include "' "$file" ||
    die "--write: '$file' includes files beside it, so the new file must be in the same folder."
}

configure_tune() {  # NUMBER…: rows that train
  local IFS=';'
  configure release -DSINTER_RECIPE_FILES= "-DSINTER_TUNE_FILE=$(readlink -f -- "$file")" \
    "-DSINTER_TUNE_SLOTS=$slots" "-DSINTER_TUNE_RANKS=$ranks" "-DSINTER_TUNE_ARMS=$*"
}

compile_arms() {  # NUMBER…
  say "sinter: compiling $# combinations, each as a program of its own"
  configure_tune "$@"
  compile --target "${@/#/sinter_tune_arm_}"
}

race_rows() {  # [OPTION…]: one pass of the race with $rows
  local row programs=() status=0
  for row in "${rows[@]}"; do programs+=(--program "$row=$build/bin/sinter_tune_arm_$row"); done
  "$build/bin/sinter_tune_grid" race "${limit[@]}" "${programs[@]}" --out "$out" --arms "$arms" \
    --minutes "$minutes" ${rounds+--rounds "$rounds"} "$@" -- --data "${data[@]}" "${words[@]}" || status=$?
  ((status == 0)) || exit "$status"
}

# First the recipe and as few combinations as have each policy; then those of which that promises the most.
race() {
  local rows more since next=$out/next result=(--source "$file")
  mkdir -p -- "$out"
  [[ -z $write ]] || result+=(--write "$write")
  [[ -z $json ]] || result+=(--json "$json")
  rm -f -- "$next"
  "$build/bin/sinter_tune_grid" race "${limit[@]}" --arms "$arms" --next "$next" "${result[@]}" || exit
  read -ra rows <"$next"
  rm -- "$next"
  compile_arms "${rows[@]}"
  since=$SECONDS
  race_rows --next "$next" "${result[@]}"
  [[ -e $next ]] || return 0  # it has ended
  since=$((SECONDS - since))
  read -ra more <"$next" || true
  rm -- "$next"
  if ((${#more[@]} > 0)); then
    rows+=("${more[@]}")
    compile_arms "${rows[@]}"
  fi
  race_rows --used "$since" "${result[@]}"
}

# Trains the recipe as it is, with other options.
sweep() {
  local option more=() name
  build_recipe "$file"
  compile --target sinter_sweep
  for option in "${sweeps[@]}"; do more+=(--sweep "$option"); done
  for name in trials seed minutes; do
    [[ ! -v $name ]] || more+=("--$name" "${!name}")
  done
  [[ -z $json ]] || more+=(--json "$json")
  "$build/bin/sinter_sweep" --program "$binary" --out "${out:-runs/sweep/$(basename -- "$file" .cpp)}" \
    "${more[@]}" -- --data "${data[@]}" "${words[@]}"
}

# Trains the recipe once, with a rate that rises.
lr_range() {
  configure release -DSINTER_RECIPE_FILES= "-DSINTER_TUNE_FILE=$(readlink -f -- "$file")"
  compile --target sinter_tune_lr_range
  "$build/bin/sinter_tune_lr_range" lr-range --program "$build/bin/sinter_tune_lr_range" --rates "$rates" \
    --out "${out:-runs/lr_range/$(basename -- "$file" .cpp)}" ${minutes+--minutes "$minutes"} \
    ${json:+--json "$json"} -- --data "${data[@]}" "${words[@]}"
}

verb_tune() {
  local file='' limit=() json='' data=() words=() out='' write='' sweeps=()
  local of_data='' of_sweep='' of_race=''
  local slots ranks arms rounds minutes trials seed rates  # unset where not given
  while (($# > 0)); do
    case $1 in
      --help | -h) tune_usage; return ;;
      --) words=("${@:2}"); of_data=$1; break ;;
      --data=*) data+=("${1#*=}") ;;
      --data)
        while (($# > 1)) && [[ $2 != -* ]]; do data+=("$2"); shift; done
        ((${#data[@]} > 0)) || check_data ;;
      --lr-range=*) rates=${1#*=} of_data=--lr-range ;;
      --lr-range)
        rates=1e-7..1 of_data=$1
        if (($# > 1)) && [[ $2 != -* && ! -f $2 ]]; then rates=$2; shift; fi ;;
      --slots=* | --ranks=* | --memory=* | --json=* | --arms=* | --rounds=* | --minutes=* | --out=* | --write=* | \
        --sweep=* | --trials=* | --seed=*) set -- "${1%%=*}" "${1#*=}" "${@:2}"; continue ;;
      --slots | --ranks | --memory | --json | --arms | --rounds | --minutes | --out | --write | --sweep | --trials | --seed)
        (($# > 1)) || die "$1 takes a value: ./sinter tune --help says which."
        case $1 in
          --slots | --ranks | --memory | --arms | --rounds | --write) of_race=$1 ;;
          --trials | --seed) of_sweep=$1 ;;
        esac
        case $1 in --arms | --rounds | --minutes | --out | --write | --sweep | --trials | --seed) of_data=$1 ;; esac
        case $1 in
          --memory) limit=("$1" "$2") ;;
          --sweep) sweeps+=("$2") ;;
          *) printf -v "${1#--}" %s "$2" ;;
        esac
        shift ;;
      -*) die "tune has no option '$1': ./sinter tune --help lists them." ;;
      *) [[ -z $file ]] || die "tune takes one recipe's file, not '$file' and '$1'."; file=$1 ;;
    esac
    shift
  done
  [[ -n $file ]] || die "tune takes a recipe's C++ file: ./sinter tune FILE.cpp"
  [[ -f $file ]] || die "there is no file '$file'. Expected a recipe's C++ file."
  [[ -z $of_data || ${#data[@]} -gt 0 ]] || die "$of_data is of a tune that trains. Give it --data PATH…"
  ((${#data[@]} == 0)) || check_data
  if [[ -v rates ]]; then
    ((${#sweeps[@]} == 0)) || of_sweep=--sweep
    [[ -z $of_race$of_sweep ]] ||
      die "--lr-range trains the recipe as it is, once. Leave out ${of_race:-$of_sweep}, which is of another tune."
    set_up tune
    lr_range
    return
  fi
  if ((${#sweeps[@]} > 0)); then
    [[ -z $of_race ]] || die "--sweep trains the recipe as it is, and $of_race is of combinations of policies."
    set_up tune
    sweep
    return
  fi
  [[ -z $of_sweep ]] || die "$of_sweep is of --sweep SLOT.OPTION=VALUES."
  : "${slots=precision,memory,batch,batching,parallel}" "${ranks=2}"
  check_slots "$slots"
  [[ $ranks =~ ^[1-8]$ ]] || die "--ranks takes a number from 1 to 8, not '$ranks'."
  ((${#data[@]} == 0)) || check_race
  set_up tune
  configure_tune
  say "sinter: planning each combination, in the compiler. That takes a minute or more, once."
  compile --target sinter_tune_grid
  if ((${#data[@]} > 0)); then
    "$build/bin/sinter_tune_grid" "${limit[@]}"
    race
  else
    "$build/bin/sinter_tune_grid" "${limit[@]}" ${json:+--json "$json"}
  fi
}
