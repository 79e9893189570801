// SPDX-License-Identifier: Apache-2.0
// The files that ./sinter recipe writes. tests/script/recipe.sh compiles some.
#include "hugging_face/write_recipe.hpp"

#include "hugging_face/policy_text.hpp"
#include "unit/hugging_face/support.hpp"

namespace sinter::detail::testing::recipe_tests {

using hugging_face::recipe_of_folder;
using hugging_face::write_recipe;
using hugging_face::WrittenRecipe;

/// The C++ of a recipe's file, from the includes on.
std::string code_of(const WrittenRecipe& recipe) {
  return flat(recipe.text.substr(recipe.text.find("#include")));
}
/// The comment before it, without its slashes.
std::string comment_of(const WrittenRecipe& recipe) {
  std::istringstream lines(recipe.text.substr(0, recipe.text.find("#include")));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    CHECK(line.starts_with("//"));
    text += line.substr(2) + "\n";
  }
  return flat(text);
}

const std::string gpt2 = R"({"architectures": ["GPT2LMHeadModel"], "n_layer": 2, "n_head": 2,
  "n_embd": 16, "n_positions": 4096, "vocab_size": 300, "resid_pdrop": 0, "embd_pdrop": 0,
  "attn_pdrop": 0})";
/// Without its last brace.
const std::string bert = R"("num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16,
  "intermediate_size": 32, "vocab_size": 6, "max_position_embeddings": 64)";
const std::string masked = R"({"architectures": ["BertForMaskedLM"], )" + bert + "}";
const std::string classes =
    R"({"architectures": ["BertForSequenceClassification"], "num_labels": 3, )" + bert + "}";

TEST_CASE("a language model with GPT-2's files reads text as their tokens") {
  const ModelFolder folder(gpt2, "gpt2");
  folder.add("vocab.json", R"({"a": 0, "b": 1, "ab": 2})");
  folder.add("merges.txt", "#version: 0.2\na b\n");
  const WrittenRecipe recipe = recipe_of_folder(folder.path());
  CHECK(recipe.notes.empty());
  const std::string expected = R"(#include <sinter/sinter.hpp>
using namespace sinter;

struct tuned_gpt2
    : Recipe<Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = 300, .positions = 4096}>,
             Tokens<{.context = 1024, .vocabulary = 300}>,
             AdamW<{.lr = 5e-5, .weight_decay = 0.01}>,
             LinearDecay<{.warmup = 100}>,
             Batch<{.global = 8, .micro = 1}>> {};

int main(int argc, char** argv) { return run<tuned_gpt2>(argc, argv); }
)";
  CHECK(recipe.text.ends_with("\n" + expected));
  const std::string comment = comment_of(recipe), path = folder.path().string();
  CAPTURE(comment);
  CHECK(has(comment, "For the weights in " + path + ": GPT2LMHeadModel, 76,928 parameters."));
  CHECK(has(comment, "./sinter build FILE.cpp"));
  CHECK(has(comment, "BINARY describe --weights " + path));
  CHECK(has(comment, "BINARY train --weights " + path + " --tokenizer " + path + " --data TEXT"));
  CHECK(has(comment, "--text LINES --json"));
  CHECK(has(comment, "1024 of the model's 4096 positions"));
}

TEST_CASE("a masked language model hides tokens of text") {
  const ModelFolder folder(masked);
  folder.add_vocabulary();
  const WrittenRecipe recipe = recipe_of_folder(folder.path());
  const std::string code = code_of(recipe);
  CAPTURE(code);
  CHECK(has(code, "Tokens<{.context = 64, .vocabulary = 6}>, MaskedLm<>,"));
  CHECK(has(code, ".positions = 64}>,"));  // without .pairs
  CHECK(has(code, "Batch<{.global = 32, .micro = 16}>"));
  CHECK(!has(comment_of(recipe), "positions"));
}

TEST_CASE("a classifier reads texts with a class each, and takes types of tokens if it can") {
  const ModelFolder folder(classes);
  folder.add_vocabulary();
  const WrittenRecipe recipe = recipe_of_folder(folder.path());
  const std::string code = code_of(recipe);
  CAPTURE(code);
  CHECK(has(code, ".pairs = true, .labels = 3}>,"));
  CHECK(has(code,
            "LabelledText<\"label\", \"sentence\", \"\", {.context = 64, .vocabulary = 6, "
            ".classes = 3, .types = true}>,"));
  CHECK(has(code, "Metrics<Accuracy, F1<>>,"));
  CHECK(has(comment_of(recipe), "a whole number from 0 to 2"));
  CHECK(has(comment_of(recipe), "--data TABLE"));

  const ModelFolder distilled(R"({"architectures": ["DistilBertForSequenceClassification"],
      "vocab_size": 6, "max_position_embeddings": 64})");
  distilled.add_vocabulary();
  CHECK(has(code_of(recipe_of_folder(distilled.path())),
            "{.context = 64, .vocabulary = 6, .classes = 2}>,"));
}

TEST_CASE("RoBERTa's classifier takes texts between its own marks") {
  const ModelFolder folder(R"({"architectures": ["RobertaForSequenceClassification"],
      "vocab_size": 14, "max_position_embeddings": 66, "type_vocab_size": 1})");
  folder.add("vocab.json", R"({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "a": 4, "<mask>": 5})");
  folder.add("merges.txt", "#version: 0.2\n");
  const WrittenRecipe recipe = recipe_of_folder(folder.path());
  CHECK(has(
      code_of(recipe),
      "LabelledText<\"label\", \"sentence\", \"\", {.context = 64, .vocabulary = 14, .classes = "
      "2, .marks = TextMarks::roberta}>, Metrics<Accuracy, F1<>>,"));
}

TEST_CASE("a recipe of other labels reads data that have them, with metrics where there are such") {
  const auto written = [](const std::string& config) {
    const ModelFolder folder(config + ", " + bert + "}");
    folder.add_vocabulary();
    return recipe_of_folder(folder.path());
  };
  const std::string begin =
      R"({"architectures": ["BertForSequenceClassification"], "num_labels": )";
  const WrittenRecipe number = written(begin + "1");
  CHECK(has(code_of(number), ".labels = 1, .label_kind = LabelKind::numbers}>,"));
  CHECK(
      has(code_of(number),
          "LabelledText<\"label\", \"sentence\", \"\", {.context = 64, .vocabulary = 6, .classes = "
          "1, .label_kind = LabelKind::numbers, .types = true}>, AdamW"));
  CHECK(has(comment_of(number), "`label`, a number, and `sentence`"));
  const WrittenRecipe several =
      written(begin + R"(3, "problem_type": "multi_label_classification")");
  CHECK(has(code_of(several),
            ".classes = 3, .label_kind = LabelKind::several_classes, .types = true, .format = "
            "TextFormat::json_lines}>, AdamW"));
  CHECK(has(comment_of(several), "--data RECORDS"));
  CHECK(has(comment_of(several), "\"label\": [0, 2]}, with a list of classes"));
  const std::string multi = R"(, "problem_type": "multi_label_classification")";
  CHECK(has(comment_of(written(begin + "2" + multi)),
            "\"label\": [true, false]}, with true or false for each class."));
  CHECK(has(comment_of(written(begin + "1" + multi)),
            "\"label\": [true]}, with true or false for the only class."));
  const WrittenRecipe words =
      written(R"({"architectures": ["BertForTokenClassification"], "num_labels": 3)");
  CHECK(has(code_of(words),
            "LabelledWords<\"tags\", \"tokens\", {.context = 64, .vocabulary = 6, .classes = 3, "
            ".types = true}>, Metrics<TokenAccuracy>, AdamW"));
  CHECK(has(comment_of(words), "--data SENTENCES"));
}

TEST_CASE("the comment of a recipe has the folder's names of classes in their order") {
  const auto comment = [](const std::string& architecture, const std::string& names) {
    const ModelFolder folder(R"({"architectures": ["BertFor)" + architecture +
                             R"(Classification"], "id2label": {)" + names + "}, " + bert + "}");
    folder.add_vocabulary();
    return comment_of(recipe_of_folder(folder.path()));
  };
  CHECK(has(comment("Sequence", R"("1": "good", "0": "bad")"),
            "The folder has names for the classes 0 to 1, in this order: bad, good. The numbers of "
            "your data must be these. If your data have the names, list them in the same order "
            "behind the options of the data, as in LabelledText<..., \"bad, good\">."));
  CHECK(has(comment("Token", R"("0": "O", "1": "B-PER")"), "LabelledWords<..., \"O, B-PER\">."));
  CHECK(has(comment("Sequence", R"("0": "a, b", "1": "c")"),
            "classes 0 to 1, which are in config.json (id2label): the numbers of your data must"));
  for (const char* none : {R"("0": "LABEL_0", "1": "LABEL_1")", R"("0": "a", "7": "b")"})
    CHECK(!has(comment("Sequence", none), "The folder has names"));
}

/// Without its last brace.
const std::string marian = R"({"architectures": ["MarianMTModel"], "encoder_layers": 2,
  "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "d_model": 16,
  "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "vocab_size": 600, "decoder_start_token_id": 5,
  "pad_token_id": 5, "max_position_embeddings": )";

TEST_CASE("an encoder-decoder reads dialogues, and its replies begin as config.json says") {
  const ModelFolder folder(marian + "64}", "mt");
  folder.add_vocabulary();
  const WrittenRecipe recipe = recipe_of_folder(folder.path());
  CHECK(recipe.notes.empty());
  const std::string expected = R"(
struct tuned_mt
    : Recipe<Seq2Seq<{.encoder_layers = 2, .decoder_layers = 1, .heads = 2, .width = 16, .hidden = 32,
                      .vocabulary = 600, .positions = 64, .position = Positions::sinusoidal,
                      .start = 5, .end = 0, .pad = 5}>,
             DialoguePairs<{.text = 64, .label = 64, .vocabulary = 600, .start = 5}>,
             AdamW<{.lr = 5e-5, .weight_decay = 0.01}>,
             LinearDecay<{.warmup = 100}>,
             Batch<{.global = 32, .micro = 16}>> {};
)";
  CAPTURE(recipe.text);
  CHECK(has(flat(recipe.text), flat(expected)));
  const std::string comment = comment_of(recipe);
  CHECK(has(comment, "--data DIALOGUES"));
  CHECK(has(comment, "DIALOGUES is files of JSON lines"));
  CHECK(has(comment, "--text LINES --json"));

  const ModelFolder without(R"({"architectures": ["BartForConditionalGeneration"],
      "decoder_start_token_id": null})");
  without.add_vocabulary();
  CHECK(has(code_of(recipe_of_folder(without.path())),
            "DialoguePairs<{.text = 1024, .label = 1024, .vocabulary = 50265}>,"));
}

TEST_CASE("an encoder-decoder without a tokenizer takes ids for both of its sides") {
  const ModelFolder folder(marian + "2048}", "mt");
  const WrittenRecipe recipe = recipe_of_folder(folder.path());
  CHECK(recipe.notes.empty());
  CHECK(has(code_of(recipe),
            "struct tuned_mt_ids { using slot = slot::data; static constexpr int context = 1024, "
            "second_context = 1024, vocabulary = 600; };"));
  CHECK(has(comment_of(recipe), R"({"ids": [464, 257], "decoder_ids": [5]} on each line)"));
  CHECK(has(comment_of(recipe), "1024 of the model's 2048 positions"));
}

TEST_CASE("Blenderbot Small's pieces of words are no tokenizer that is understood") {
  const ModelFolder folder(R"({"architectures": ["BlenderbotSmallForConditionalGeneration"]})");
  folder.add("vocab.json", R"({"__null__": 0, "__start__": 1, "__end__": 2, "__unk__": 3,
      "t@@": 4, "h@@": 5, "th@@": 6, "the": 7, "e": 8})");
  folder.add("merges.txt", "#version: 0.2\nt h\nth e</w>\n");
  const WrittenRecipe recipe = recipe_of_folder(folder.path());
  REQUIRE(recipe.notes.size() == 1);
  CHECK(has(recipe.notes[0], "tokenizer is left out"));
  CHECK(has(code_of(recipe), "context = 512, second_context = 512, vocabulary = 50265; };"));
}

TEST_CASE("without a tokenizer a recipe takes ids alone") {
  for (const std::string& config : {gpt2, masked, classes}) {
    CAPTURE(config);
    const ModelFolder folder(config, "my-model");
    const WrittenRecipe recipe = recipe_of_folder(folder.path());
    const std::string code = code_of(recipe), comment = comment_of(recipe);
    const bool types = config != gpt2;
    CHECK(recipe.notes.empty());
    CHECK(has(code,
              "struct tuned_my_model_ids { using slot = slot::data; static constexpr int "
              "context = "));
    CHECK(
        has(code, types ? "context = 64, vocabulary = 6; };" : "context = 1024, vocabulary = 300"));
    CHECK(has(code, ", tuned_my_model_ids, AdamW"));
    CHECK(has(code, ".pairs = true") == types);
    CHECK(!has(code, "MaskedLm"));
    CHECK(!has(comment, "--tokenizer"));
    CHECK(!has(comment, "BINARY train"));
    CHECK(has(comment, "--ids LINES --json"));
    CHECK(has(comment, "\"token_types\": [0, 1]") == types);
    CHECK(has(comment, "Trainer<tuned_my_model>"));
  }
}

TEST_CASE("a tokenizer that cannot be used is left out, or said to be too large") {
  const ModelFolder damaged(masked);
  damaged.add("tokenizer.json", "{");
  const WrittenRecipe ids = recipe_of_folder(damaged.path());
  REQUIRE(ids.notes.size() == 1);
  CHECK(has(ids.notes[0], "tokenizer is left out"));
  CHECK(has(ids.notes[0], "tokenizer.json"));
  CHECK(has(comment_of(ids), "Note: The folder's tokenizer is left out."));
  CHECK(has(code_of(ids), "_ids"));

  const ModelFolder large(masked);
  large.add_vocabulary();
  large.add("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\na\n");
  const WrittenRecipe text = recipe_of_folder(large.path());
  REQUIRE(text.notes.size() == 1);
  CHECK(has(text.notes[0], "has 7 tokens, and the model's vocabulary is 6"));
  CHECK(has(code_of(text), "Tokens<"));
}

TEST_CASE("the recipe's name is that of its file or its folder") {
  auto name = [](const std::string& folder, const std::string& file = "") {
    const ModelFolder made(gpt2, folder);
    const std::string code = code_of(recipe_of_folder(made.path(), file));
    const std::size_t begin = code.find("run<") + 4;
    return code.substr(begin, code.find('>', begin) - begin);
  };
  CHECK(name("gpt2") == "tuned_gpt2");
  CHECK(name("Qwen2-0.5B") == "tuned_Qwen2_0_5B");
  CHECK(name("__init__") == "tuned_init");
  CHECK(name("日本") == "tuned");
  CHECK(name("gpt2", "somewhere/my reviews.cpp") == "tuned_my_reviews");
  CHECK(name("gpt2", "tuned_gpt2.cpp") == "tuned_gpt2");
  const ModelFolder folder(gpt2, "gpt2");
  CHECK(has(recipe_of_folder(folder.path() / "").text, "struct tuned_gpt2\n"));
}

TEST_CASE("commands in the comment are what a shell takes") {
  const ModelFolder folder(gpt2, "my model's");
  const WrittenRecipe recipe = recipe_of_folder(folder.path(), "a b.cpp");
  const std::string quoted = "'" + folder.path().parent_path().string() + "/my model'\\''s'";
  CHECK(has(recipe.text, "//   BINARY describe --weights " + quoted + "\n"));
  CHECK(has(recipe.text, "//   ./sinter build 'a b.cpp'\n"));
  const ModelFolder strange(gpt2, "a\nint x\\");
  std::istringstream lines(recipe_of_folder(strange.path()).text);
  for (std::string line; std::getline(lines, line) && !line.starts_with("#");) {
    CAPTURE(line);
    CHECK(line.starts_with("//"));
    CHECK(!line.ends_with("\\"));
  }
}

TEST_CASE("lines of options are no longer than a page is wide") {
  hugging_face::PolicyText policy{"Policy", {"\"a\""}};
  for (int k = 0; k < 30; ++k) policy.options.push_back(".option = " + std::to_string(k));
  const std::string text = std::string(13, ' ') + written(policy, 13);
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    CAPTURE(line);
    CHECK(line.size() <= 96);
    CHECK(line.size() > (count == 0 ? 70 : 26));
    if (count > 0) CHECK(line.find('.') == 13 + std::string("Policy<\"a\", {").size());
  }
  CHECK(count > 4);
  CHECK(has(text, ".option = 28, .option = 29}>"));
  CHECK(hugging_face::written({"Policy"}, 0) == "Policy<>");
}

TEST_CASE("a file that is there is never overwritten") {
  const ModelFolder folder(gpt2);
  const fs::path file = folder.beside("recipe.cpp");
  const WrittenRecipe recipe = write_recipe(folder.path(), file);
  auto content = [](const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  CHECK(content(file) == recipe.text);
  CHECK(has(recipe.text, "struct tuned_recipe\n"));
  std::ofstream(file) << "mine";
  CHECK(has(refusal([&] { write_recipe(folder.path(), file); }), "it is there already"));
  CHECK(content(file) == "mine");
  CHECK(has(refusal([&] { write_recipe(folder.path(), folder.beside("recipe.txt")); }), ".cpp"));
  CHECK(!fs::exists(folder.beside("recipe.txt")));
}

TEST_CASE("a folder without a model is refused") {
  auto said = [](const fs::path& folder) {
    return refusal([&] { (void)recipe_of_folder(folder); });
  };
  const ModelFolder folder(gpt2);
  CHECK(has(said(folder.beside("none")), "is no folder. Expected a model's folder"));
  CHECK(has(said(folder.path() / "config.json"), "is no folder"));
  fs::create_directory(folder.beside("empty"));
  CHECK(has(said(folder.beside("empty")), "has no config.json"));
  CHECK(has(said(ModelFolder("{").path()), "it is not JSON"));
  CHECK(has(said(ModelFolder("[1]").path()), "it is [1], and no object"));
  CHECK(has(said(ModelFolder("{}").path()), "it has no \"architectures\""));
  CHECK(
      has(said(ModelFolder(R"({"architectures": "GPT2LMHeadModel"})").path()), "no list of names"));
  CHECK(has(said(ModelFolder(R"({"architectures": [3]})").path()), "no list of names"));
}

TEST_CASE("a recipe of adapters has PEFT's usual targets, and trains a head of labels") {
  const auto adapters = [](const std::string& config) {
    const ModelFolder folder(config);
    const std::string code = code_of(recipe_of_folder(folder.path(), {}, true));
    CHECK(has(code, "AdamW<{.lr = 2e-4, .weight_decay = 0.01}>"));
    CHECK_FALSE(has(code_of(recipe_of_folder(folder.path())), "Lora"));
    const std::size_t begin = code.find("Lora<"), end = code.find("AdamW<");
    REQUIRE(begin < end);
    return code.substr(begin, end - begin);
  };
  const std::string options = "Lora<{.rank = 8, .alpha = 16, .dropout = 0.05}, ";
  CHECK(has(adapters(gpt2), options + "Targets<\"*.c_attn\">>,"));
  for (const char* model :
       {R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 32, "intermediate_size": 48,
            "max_position_embeddings": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
            "num_key_value_heads": 2, "vocab_size": 96})",
        R"({"architectures": ["BartForConditionalGeneration"], "d_model": 32, "decoder_ffn_dim": 64,
            "decoder_attention_heads": 2, "decoder_layers": 1, "encoder_attention_heads": 2,
            "encoder_ffn_dim": 64, "encoder_layers": 2, "max_position_embeddings": 64,
            "vocab_size": 96})"})
    CHECK(has(adapters(model), options + "Targets<\"*.q_proj\", \"*.v_proj\">>,"));
  CHECK(has(
      adapters(R"({"architectures": ["DistilBertForSequenceClassification"], "dim": 16,
                         "hidden_dim": 32, "max_position_embeddings": 64, "n_heads": 2,
                         "n_layers": 2, "num_labels": 3, "vocab_size": 6})"),
      "Targets<\"*.q_lin\", \"*.v_lin\">, ModulesToSave<\"pre_classifier\", \"classifier\">>,"));
  CHECK(has(adapters(masked), options + "Targets<\"*.query\", \"*.value\">>,"));
  CHECK(
      has(adapters(classes), "Targets<\"*.query\", \"*.value\">, ModulesToSave<\"classifier\">>,"));
}

}  // namespace sinter::detail::testing::recipe_tests
