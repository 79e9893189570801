// SPDX-License-Identifier: Apache-2.0
// What becomes of a folder's config and tokenizer in an export.
#include "hugging_face/export_files.hpp"

#include <nlohmann/json.hpp>

#include "sinter/files/io.hpp"
#include "unit/hugging_face/support.hpp"

namespace sinter::detail::testing::export_files_tests {

using hugging_face::ExportParts;
using hugging_face::is_written;
using hugging_face::Origin;
using hugging_face::origin_of_weights;
using hugging_face::set_tokenizer;
using hugging_face::write_export_files;
using hugging_face::write_origin;
using Json = Origin::Json;

constexpr const char* gpt2 = R"({"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2",
    "vocab_size": 9, "n_positions": 5, "torch_dtype": "float32", "resid_pdrop": 0.1,
    "initializer_range": 0.02, "bos_token_id": null, "eos_token_id": null})";
constexpr const char* bert = R"({"architectures": ["BertForSequenceClassification"],
    "model_type": "bert", "vocab_size": 9, "max_position_embeddings": 5, "torch_dtype": "float32",
    "num_labels": 2, "problem_type": "single_label_classification"})";

/// An export of these files, into a folder of its own.
struct Exported {
  TemporaryFolder folder;
  Exported(const Origin& origin, const char* own, std::string dtype = "") {
    write_export_files({.origin = origin, .dtype = std::move(dtype)}, own, folder.path());
  }
  Json json(const std::string& file) const { return Json::parse(read_file(folder / file)); }
  bool has(const std::string& file) const { return fs::exists(folder / file); }
};

TEST_CASE("keys that the recipe does not write come from the folder, and old facts do not") {
  const ModelFolder folder(R"({"architectures": ["GPT2Model"], "model_type": "gpt2", "n_ctx": 5,
    "task_specific_params": {"a": {"b": 1}}, "resid_pdrop": 0.5, "initializer_range": 0.5,
    "eos_token_id": [3, 4], "dtype": "bfloat16", "_name_or_path": "there", "id2label": {"0": "A"},
    "auto_map": {"AutoModel": "mine.py"}, "quantization_config": {}})");
  const Exported exported(origin_of_weights(folder.path()), gpt2, "bfloat16");
  const Json config = exported.json("config.json");
  CHECK(config["architectures"] == Json{"GPT2LMHeadModel"});
  CHECK(config["n_ctx"] == 5);
  CHECK(config["task_specific_params"]["a"]["b"] == 1);
  CHECK(config["resid_pdrop"] == 0.1);
  CHECK(config["initializer_range"] == 0.5);
  CHECK(config["eos_token_id"] == Json{3, 4});
  CHECK(config["torch_dtype"] == "bfloat16");
  for (const char* key : {"dtype", "_name_or_path", "id2label", "auto_map", "quantization_config"})
    CHECK_MESSAGE(!config.contains(key), key);
  CHECK(exported.json("generation_config.json") ==
        Json{{"_from_model_config", true}, {"eos_token_id", {3, 4}}});
  CHECK_FALSE(exported.has("tokenizer_config.json"));
}

TEST_CASE("a generation_config.json is kept, and a model that generates nothing has none") {
  const ModelFolder folder("{}");
  folder.add("generation_config.json", R"({"eos_token_id": 3, "top_k": 7})");
  CHECK(Exported(origin_of_weights(folder.path()), gpt2).json("generation_config.json") ==
        Json{{"eos_token_id", 3}, {"top_k", 7}});
  CHECK_FALSE(Exported(origin_of_weights(folder.path()), bert).has("generation_config.json"));
}

TEST_CASE("names of classes are the folder's if it names as many, else those of transformers") {
  auto labels = [](const char* config) {
    return Exported(origin_of_weights(ModelFolder(config).path()), bert).json("config.json");
  };
  CHECK(labels(R"({"id2label": {"0": "no", "1": "yes"}})")["id2label"] ==
        Json{{"0", "no"}, {"1", "yes"}});
  CHECK(labels(R"({"id2label": {"0": "no", "1": "yes"}})")["label2id"] ==
        Json{{"no", 0}, {"yes", 1}});
  for (const char* other :
       {"{}", R"({"id2label": {"0": "a", "1": "b", "2": "c"}, "label2id": {"a": 0}})",
        R"({"id2label": {"0": "a", "7": "b"}})", R"({"id2label": {"0": "a", "1": 1}})"}) {
    CHECK(labels(other)["id2label"] == Json{{"0", "LABEL_0"}, {"1", "LABEL_1"}});
    CHECK(labels(other)["label2id"] == Json{{"LABEL_0", 0}, {"LABEL_1", 1}});
  }
}

TEST_CASE("names that the data have for classes come before the folder's") {
  const ModelFolder folder(R"({"id2label": {"0": "no", "1": "yes"}})"), exported("{}");
  write_export_files(
      {.origin = origin_of_weights(folder.path()), .dtype = "", .classes = {"bad", "good"}}, bert,
      exported.path());
  const Json config = Json::parse(read_file(exported.path() / "config.json"));
  CHECK(config["id2label"] == Json{{"0", "bad"}, {"1", "good"}});
  CHECK(config["label2id"] == Json{{"bad", 0}, {"good", 1}});
}

TEST_CASE("files of a tokenizer get the names of transformers, and a config that fits them") {
  const ModelFolder folder("{}");
  folder.add("encoder.json", R"({"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3})");
  folder.add("vocab.bpe", "#version: 0.2\na b\n");
  const Exported exported(origin_of_weights(folder.path()), gpt2);
  CHECK(exported.has("vocab.json"));
  CHECK(exported.has("merges.txt"));
  CHECK_FALSE(exported.has("encoder.json"));
  const Json settings = exported.json("tokenizer_config.json");
  CHECK(settings["tokenizer_class"] == "GPT2Tokenizer");
  CHECK(settings["eos_token"] == "<|endoftext|>");
  CHECK(settings["unk_token"].is_null());
  CHECK(settings["model_max_length"] == 5);
  CHECK(exported.json("config.json")["eos_token_id"] == 3);
}

TEST_CASE("RoBERTa's padding is its model's, and so are its marks around texts") {
  const char* roberta = R"({"architectures": ["RobertaForSequenceClassification"],
      "model_type": "roberta", "vocab_size": 9, "max_position_embeddings": 7, "pad_token_id": 1,
      "num_labels": 2, "problem_type": "single_label_classification"})";
  const ModelFolder folder(R"({"pad_token_id": 1, "bos_token_id": 0})"), other("{}");
  folder.add("vocab.json", R"({"<s>": 0, "<pad>": 1, "</s>": 2, "a": 3})");
  folder.add("merges.txt", "#version: 0.2\n");
  const Exported exported(origin_of_weights(folder.path()), roberta);
  const Json settings = exported.json("tokenizer_config.json");
  CHECK(settings["tokenizer_class"] == "RobertaTokenizer");
  CHECK(settings["model_max_length"] == 5);

  other.add("tokenizer.json", R"({"added_tokens": [
      {"id": 1, "content": "<s>", "lstrip": false, "normalized": false, "rstrip": false,
       "single_word": false, "special": true},
      {"id": 2, "content": "</s>", "lstrip": false, "normalized": false, "rstrip": false,
       "single_word": false, "special": true},
      {"id": 3, "content": "<pad>", "lstrip": false, "normalized": false, "rstrip": false,
       "single_word": false, "special": true}],
      "normalizer": null, "post_processor": null, "decoder": {"type": "ByteLevel"},
      "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
      "model": {"type": "BPE", "vocab": {"a": 0, "<s>": 1, "</s>": 2, "<pad>": 3}, "merges": []}})");
  Origin origin = origin_of_weights(folder.path());
  set_tokenizer(origin, other.path() / "tokenizer.json");
  const Exported again(origin, roberta);
  CHECK(again.json("config.json")["pad_token_id"] == 1);
  const Json tokenizer = again.json("tokenizer.json");
  std::string pair;
  for (const Json& part : tokenizer["post_processor"]["pair"])
    for (const auto& [kind, of] : part.items()) {
      pair += of["id"].get<std::string>() + " ";
      CHECK(of["type_id"] == 0);
    }
  CHECK(pair == "<s> A </s> </s> B </s> ");
}

TEST_CASE("capitals of a vocab.txt alone are told apart as Sinter does it") {
  for (const bool capitals : {false, true}) {
    const ModelFolder folder("{}");
    folder.add("vocab.txt",
               std::string("[PAD]\n[UNK]\n[CLS]\n[SEP]\n") + (capitals ? "A\n" : "a\n"));
    const Exported exported(origin_of_weights(folder.path()), bert);
    const Json settings = exported.json("tokenizer_config.json");
    CHECK(settings["tokenizer_class"] == "BertTokenizer");
    CHECK(settings["do_lower_case"] == !capitals);
    CHECK(settings["cls_token"] == "[CLS]");
    CHECK(exported.json("config.json")["pad_token_id"] == 0);
  }
}

TEST_CASE("another tokenizer takes the ids of special tokens of the one before with it") {
  const ModelFolder folder(R"({"eos_token_id": 7, "bos_token_id": 7, "n_ctx": 5})"), other("{}");
  folder.add("generation_config.json", R"({"eos_token_id": 7})");
  auto with_id = [](const std::string& id) {
    return R"({"added_tokens": [{"id": )" + id + R"(, "content": "</s>", "special": true}]})";
  };
  folder.add("tokenizer.json", with_id("7"));
  other.add("tokenizer.json", with_id("1"));
  Origin origin = origin_of_weights(folder.path());
  set_tokenizer(origin, other.path() / "tokenizer.json");
  const Exported exported(origin, gpt2);
  CHECK(exported.json("config.json")["eos_token_id"] == 1);
  CHECK(exported.json("config.json")["bos_token_id"].is_null());
  CHECK(exported.json("config.json")["n_ctx"] == 5);
  CHECK(exported.json("generation_config.json")["eos_token_id"] == 1);

  other.add("beyond.json", with_id("9"));  // the model's ids are below 9
  Origin beyond = origin_of_weights(folder.path());
  set_tokenizer(beyond, other.path() / "beyond.json");
  CHECK(Exported(beyond, gpt2).json("config.json")["eos_token_id"].is_null());

  Origin same = origin_of_weights(folder.path());
  other.add("mine.json", with_id("7"));
  set_tokenizer(same, other.path() / "mine.json");
  CHECK(Exported(same, gpt2).json("config.json")["bos_token_id"] == 7);
}

TEST_CASE("an origin is written, read again, and known as written") {
  const ModelFolder folder(R"({"n_ctx": 5})");
  folder.add_vocabulary();
  const Origin origin = origin_of_weights(folder.path());
  const TemporaryFolder kept;
  write_origin(origin, kept.path());
  CHECK(is_written(origin, kept.path()));
  CHECK(is_written(origin_of_weights(kept.path()), kept.path()));
  write_file_atomically(kept / "more", "");
  CHECK_FALSE(is_written(origin, kept.path()));
}

TEST_CASE("a damaged config.json is an error that names it") {
  const ModelFolder folder("[]");
  CHECK(has(refusal([&] { (void)origin_of_weights(folder.path()); }),
            "config.json: it is no object of JSON. Correct it, or take it away."));
}

TEST_CASE("a head without a problem_type loses that of the head that training began with") {
  const ModelFolder folder(R"({"problem_type": "regression", "id2label": {"0": "A"}})");
  const Exported exported(origin_of_weights(folder.path()),
                          R"({"architectures": ["BertForTokenClassification"], "num_labels": 2})");
  CHECK(!exported.json("config.json").contains("problem_type"));
}

}  // namespace sinter::detail::testing::export_files_tests
