# SPDX-License-Identifier: Apache-2.0
# recipe writes files that compile as they are, for folders with and without a tokenizer.
. "$root/tests/script/lib/check.bash"

expect 1 "$sinter" recipe
says 'recipe takes a folder and, if you like, the file to write'
expect 1 "$sinter" recipe --help
says "recipe takes a folder and a file, and no option but --lora: '--help'"
expect 1 "$sinter" recipe "$scratch/none"
says "there is no folder '$scratch/none'"

reviews="$scratch/film reviews" llama=$scratch/llama bart=$scratch/bart marian=$scratch/marian \
  roberta=$scratch/roberta
mkdir "$reviews" "$llama" "$bart" "$marian" "$roberta"
cat >"$reviews/config.json" <<'JSON'
{"architectures": ["BertForSequenceClassification"], "hidden_size": 32, "intermediate_size": 64,
 "max_position_embeddings": 64, "num_attention_heads": 2, "num_hidden_layers": 2, "num_labels": 3,
 "vocab_size": 6}
JSON
printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]' the >"$reviews/vocab.txt"
cat >"$llama/config.json" <<'JSON'
{"architectures": ["LlamaForCausalLM"], "hidden_size": 32, "intermediate_size": 48,
 "max_position_embeddings": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
 "num_key_value_heads": 2, "vocab_size": 96, "rope_theta": 500000.0,
 "rope_scaling": {"factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
                  "original_max_position_embeddings": 32, "rope_type": "llama3"}}
JSON

cat >"$bart/config.json" <<'JSON'
{"architectures": ["BartForConditionalGeneration"], "d_model": 32, "decoder_attention_heads": 2,
 "decoder_ffn_dim": 64, "decoder_layers": 1, "encoder_attention_heads": 2, "encoder_ffn_dim": 64,
 "encoder_layers": 2, "max_position_embeddings": 64, "vocab_size": 96}
JSON
sed 's/BartForConditionalGeneration/MarianMTModel/; s/"vocab_size"/"activation_function": "swish", "decoder_start_token_id": 95, "pad_token_id": 95, &/' \
  "$bart/config.json" >"$marian/config.json"
printf '{"a": 0, "b": 1, "ab": 2, "<s>": 3, "</s>": 4}' >"$bart/vocab.json"
printf '#version: 0.2\na b\n' >"$bart/merges.txt"
cp "$bart"/{vocab.json,merges.txt} "$roberta"
sed 's/Bert/Roberta/; s/"max_position_embeddings": 64/"max_position_embeddings": 66/' \
  "$reviews/config.json" >"$roberta/config.json"

touch "$scratch/mine.cpp"
expect 1 "$sinter" recipe "$llama" "$scratch/mine.cpp"
says "'$scratch/mine.cpp' is there already"
[[ ! -s $scratch/mine.cpp ]] || fail 'a file that was there has changed'

expect 0 "$sinter" recipe "$reviews" "$scratch/film reviews.cpp"
says 'Next: ./sinter build'
"$sinter" recipe "$llama" >"$scratch/llama.cpp" 2>"$scratch/messages" </dev/null ||
  fail "recipe exits $?: $(cat "$scratch/messages")"
grep -q '^struct tuned_film_reviews$' "$scratch/film reviews.cpp" || fail 'the recipe has another name'
grep -q '^struct tuned_llama_ids {$' "$scratch/llama.cpp" || fail 'the recipe does not take ids alone'
expect 0 "$sinter" recipe "$bart" "$scratch/bart.cpp"
grep -q 'DialoguePairs<{.text = 64, .label = 64, .vocabulary = 96, .start = 2}>' "$scratch/bart.cpp" ||
  fail 'the recipe does not read dialogues'
expect 0 "$sinter" recipe "$marian" "$scratch/marian.cpp"
grep -q 'context = 64, second_context = 64' "$scratch/marian.cpp" || fail 'the recipe has no ids for both sides'
expect 0 "$sinter" recipe "$roberta" "$scratch/roberta.cpp"
grep -q '.marks = TextMarks::roberta' "$scratch/roberta.cpp" || fail 'the recipe has other marks'
expect 0 "$sinter" recipe --lora "$reviews" "$scratch/adapted.cpp"
grep -q 'ModulesToSave<"classifier">' "$scratch/adapted.cpp" || fail 'a fresh head is not trained'
expect 0 "$sinter" recipe --lora "$llama" "$scratch/adapted_llama.cpp"
grep -q 'Targets<"\*.q_proj", "\*.v_proj">' "$scratch/adapted_llama.cpp" || fail 'the recipe has other targets'
for file in "$scratch/film reviews.cpp" "$scratch"/{adapted,adapted_llama,llama,bart,marian,roberta}.cpp; do
  expect 0 "$CXX" -std=c++20 -fsyntax-only -Wall -Wextra -Wshadow -Werror "-I$root/include" "$file"
done

sed -i 's/"LlamaForCausalLM"/"T5ForConditionalGeneration"/' "$llama/config.json"
expect 1 "$sinter" recipe "$llama" "$scratch/t5.cpp"
says 'its architecture is T5ForConditionalGeneration, which Sinter does not have'
[[ ! -e $scratch/t5.cpp ]] || fail 'a recipe that nobody could write was written'
