# SPDX-License-Identifier: Apache-2.0
# The verb tune; sourced by ./sinter.

tune_usage() {
  cat <<'TEXT'
usage: ./sinter tune FILE.cpp [OPTION…]

Plans the recipe of FILE.cpp with each combination of policies that may make it faster or smaller, and
prints what each needs. Nothing is trained.

  --slots A,B     the slots that may change, of precision, memory, batch (the micro-batch), batching,
                  parallel (ranks) and optimizer; default: all but optimizer, since the others leave what
                  is learnt as it is
  --ranks N       plan for 2, 4 and up to N ranks, at most 8; default: 2
  --memory SIZE   leave out what plans more than SIZE, such as 8GiB, all ranks together
  --json FILE     write all combinations to a file, too
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

verb_tune() {
  local file='' slots=precision,memory,batch,batching,parallel ranks=2 more=()
  while (($# > 0)); do
    case $1 in
      --help | -h) tune_usage; return ;;
      --slots=* | --ranks=* | --memory=* | --json=*) set -- "${1%%=*}" "${1#*=}" "${@:2}"; continue ;;
      --slots | --ranks | --memory | --json)
        (($# > 1)) || die "$1 takes a value: ./sinter tune --help says which."
        case $1 in
          --slots) slots=$2 ;;
          --ranks) ranks=$2 ;;
          *) more+=("$1" "$2") ;;
        esac
        shift 2
        continue ;;
      -*) die "tune has no option '$1': ./sinter tune --help lists them." ;;
      *) [[ -z $file ]] || die "tune takes one recipe's file, not '$file' and '$1'."; file=$1 ;;
    esac
    shift
  done
  [[ -n $file ]] || die "tune takes a recipe's C++ file: ./sinter tune FILE.cpp"
  [[ -f $file ]] || die "there is no file '$file'. Expected a recipe's C++ file."
  check_slots "$slots"
  [[ $ranks =~ ^[1-8]$ ]] || die "--ranks takes a number from 1 to 8, not '$ranks'."
  set_up tune
  configure release -DSINTER_RECIPE_FILES= "-DSINTER_TUNE_FILE=$(readlink -f -- "$file")" \
    "-DSINTER_TUNE_SLOTS=$slots" "-DSINTER_TUNE_RANKS=$ranks"
  say "sinter: planning each combination, in the compiler. That takes a minute or more, once."
  compile --target sinter_tune_grid
  "$build/bin/sinter_tune_grid" "${more[@]}"
}
