# SPDX-License-Identifier: Apache-2.0
# The path that README shows: a folder of Hugging Face's and a table become a classifier in five commands.
# Its figures are those of its predictions, and a sixth command, of transformers, names its classes. All six
# are run as README has them, with the files of this test.
. "$root/tests/script/lib/check.bash"

model=$scratch/model exported=$scratch/exported out=$scratch/run
mkdir "$model"
cat >"$model/config.json" <<'JSON'
{"architectures": ["BertForSequenceClassification"], "hidden_size": 16, "intermediate_size": 16,
 "max_position_embeddings": 24, "num_attention_heads": 2, "num_hidden_layers": 1, "vocab_size": 10,
 "id2label": {"0": "negative", "1": "positive"}, "label2id": {"negative": 0, "positive": 1}}
JSON
printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]' good bad film very the >"$model/vocab.txt"

# Texts whose class their words tell, but for every seventh.
table() {  # FIRST LAST
  awk -v first="$1" -v last="$2" 'BEGIN {
    split("the very bad film,very good film,bad very bad,the good the film", texts, ",")
    print "label\tsentence"
    for (k = first; k < last; ++k)
      print (k % 7 == 0 ? int(k / 7) % 2 : k % 2) "\t" texts[k % 4 + 1]
  }'
}
table 0 160 >"$scratch/train.tsv"
table 200 241 >"$scratch/dev.tsv"
table 300 361 >"$scratch/test.tsv"
sed 1d "$scratch/test.tsv" | cut -f 1 >"$scratch/actual"
sed 1d "$scratch/test.tsv" | cut -f 2 >"$scratch/texts"

python=${SINTER_PYTHON:-python3}
mapfile -t shown < <(
  awk '/^## / { ours = /^## Fine-tune/; fences = 0 } /^```/ { ++fences; next } ours && fences == 1' "$root/README.md" |
    sed -e ':join; /\\$/ { N; s/\\\n *//; b join; }' -e 's/ *# .*//' \
      -e "s|FOLDER|$model|g; s|my_model.cpp|$scratch/films.cpp|; s|\([a-z]*\.tsv\)|$scratch/\1|g" \
      -e "s|runs/tuned|$out|; s|EXPORTED|$exported|; s|^\./sinter |$sinter |; s|^python3 |$python |")
wanted=('* recipe *' '* build *' 'BINARY train * --validation * --epochs 3 --early-stop *'
  'BINARY eval *' 'BINARY export *' '* -c *pipeline*')
for k in "${!wanted[@]}"; do
  # shellcheck disable=SC2053  # each is a pattern
  [[ ${shown[k]:-} == ${wanted[k]} ]] || fail "README's command $((k + 1)) is '${shown[k]:-}', expected ${wanted[k]}"
done

# Runs a command of README with more words: words_of NUMBER WORD… leaves it in $words.
words_of() {
  eval "words=(${shown[$1 - 1]/#BINARY/\$binary})"
  words+=("${@:2}")
}
run_shown() { words_of "$@"; expect 0 "${words[@]}"; }

run_shown 1
words_of 2
"${words[@]}" >"$scratch/output" 2>"$scratch/messages" </dev/null ||
  fail "build exits $?: $(cat "$scratch/messages")"
binary=$(tail -n 1 "$scratch/output")
expect 0 "$binary" export --seed 3 --out "$scratch/start" # what a download has
mv "$scratch/start/model.safetensors" "$model"

run_shown 3 --eval-every 3 --optimizer.lr 0.01 --schedule.warmup 2
says '--epochs 3 ends the run after step 15'
says ', accuracy '
says '; the best is step '
run_shown 4
cp "$scratch/output" "$scratch/evaluated"
run_shown 5

# The figures of eval are those of the predictions.
expect 0 "$binary" predict --weights "$out" --tokenizer "$model" --text "$scratch/texts" --quiet
awk '{ print $1 }' "$scratch/output" >"$scratch/predicted"
paste "$scratch/actual" "$scratch/predicted" | awk '
  { ++n[$1 $2]; ++all }
  END {
    printf "accuracy %.6f\n", (n["00"] + n["11"]) / all
    wrong = n["01"] + n["10"]
    printf "f1_macro %.6f\n", n["00"] / (2 * n["00"] + wrong) + n["11"] / (2 * n["11"] + wrong)
  }' >"$scratch/wanted"
cp "$scratch/evaluated" "$scratch/output"
[[ $(wc -l <"$scratch/predicted") == 61 ]] || fail 'predict answers another number of texts'
while read -r name value; do
  grep -qE "^$name +$value\$" "$scratch/evaluated" || fail "eval has another $name than $value"
done <"$scratch/wanted"

for file in config.json model.safetensors vocab.txt tokenizer_config.json; do
  [[ -s $exported/$file ]] || fail "the export has no $file"
done
if "$python" -c 'import sklearn' 2>/dev/null; then
  "$python" - "$scratch/actual" "$scratch/predicted" >"$scratch/output" <<'PYTHON'
import sys
from sklearn.metrics import accuracy_score, f1_score
actual, predicted = (open(name).read().split() for name in sys.argv[1:])
print(f"accuracy {accuracy_score(actual, predicted):.6f}")
print(f"f1_macro {f1_score(actual, predicted, average='macro'):.6f}")
PYTHON
  diff "$scratch/output" "$scratch/wanted" || fail "scikit-learn's figures differ"
else
  echo "left out: $python has no sklearn, so that the figures were compared with the script's own"
fi
if ! "$python" -c 'import torch, transformers' 2>/dev/null; then
  echo "left out: $python has no torch and transformers, so that no pipeline has read the export"
  exit
fi
export HF_HUB_OFFLINE=1
run_shown 6
grep -qE "\[\{'label': '(negative|positive)', 'score': " "$scratch/output" ||
  fail "README's pipeline names no class"
"$python" - "$exported" "$scratch/texts" >"$scratch/output" 2>"$scratch/messages" <<'PYTHON' ||
import sys
from transformers import pipeline
classify = pipeline("text-classification", model=sys.argv[1])
for answer in classify(open(sys.argv[2]).read().splitlines()):
    print(answer["label"])
PYTHON
  fail "the pipeline fails: $(cat "$scratch/messages")"
sed 's/^0$/negative/; s/^1$/positive/' "$scratch/predicted" | diff "$scratch/output" - ||
  fail 'the pipeline names other classes'
