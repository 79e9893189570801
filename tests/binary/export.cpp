// SPDX-License-Identifier: Apache-2.0
// What export writes beside the weights, from runs whose own folder is all that is left.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>

#include "binary/support.hpp"
#include "support/python.hpp"

namespace sinter::detail::testing::export_tests {

const std::string words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ngood\nbad\nfilm\nvery\nthe\n";

/// Records of two classes, which their words tell apart.
std::string table() {
  std::string text = "label\tsentence\n";
  for (int k = 0; k < 20; ++k) text += "0\tThe film very bad\n1\tvery good film\n";
  return text;
}

Json json_in(const std::string& file) { return Json::parse(content(file)); }

/// The types of the tensors of a safetensors file.
std::set<std::string> types_in(const std::string& file) {
  const std::string bytes = content(file);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  const Json header = Json::parse(bytes.substr(8, length));
  std::set<std::string> types;
  for (const auto& [name, tensor] : header.items())
    if (name != "__metadata__") types.insert(tensor["dtype"].get<std::string>());
  return types;
}

/// Compares an export with transformers, if SINTER_PYTHON has it.
void check_by_transformers(const std::string& folder, const std::vector<std::string>& texts,
                           const std::string& binary) {
  const auto python = testing::python_with("torch, transformers");
  if (!python) return;
  Scratch scratch;
  Json expected{{"texts", texts}, {"ids", Json::array()}, {"logits", Json::array()}};
  for (const std::string& text : texts) {
    const std::string file = write(scratch / "text", text);
    const Json ids = fine({"tokenize", "--tokenizer", folder, "--text", file, "--json",
                           "--special-tokens", "off"},
                          binary)
                         .json();
    expected["ids"].push_back(ids["ids"]);
    const bool classifies = json_in(folder + "/config.json").contains("num_labels");
    const Words predict{"predict", "--json", "--weights", folder};
    const Ended predicted =
        fine(predict + (classifies ? Words{"--tokenizer", folder, "--text", file}
                                   : Words{"--ids", write(scratch / "ids", ids.dump() + "\n")}),
             binary);
    expected["logits"].push_back(predicted.json()["logits"]);
  }
  const std::string command = "'" + *python + "' " SINTER_SOURCE_DIR "/scripts/check_export.py " +
                              folder + " " + write(scratch / "expected.json", expected.dump());
  CHECK(std::system(command.c_str()) == 0);
}

/// A folder of a classifier as transformers leaves one, with names of classes and keys of its own.
std::string classifier(const Scratch& scratch) {
  const std::string folder = scratch / "folder";
  fine({"export", "--seed", "3", "--out", folder}, SINTER_REVIEWS);
  Json config = json_in(folder + "/config.json");
  config["id2label"] = {{"0", "NEGATIVE"}, {"1", "POSITIVE"}};
  config["label2id"] = {{"NEGATIVE", 0}, {"POSITIVE", 1}};
  config.update({{"finetuning_task", "reviews"},
                 {"pad_token_id", 0},
                 {"initializer_range", 0.5},
                 {"_name_or_path", "/nowhere"},
                 {"torch_dtype", "float32"}});
  write(folder + "/config.json", config.dump());
  write(folder + "/vocab.txt", words);
  write(folder + "/tokenizer_config.json",
        R"({"do_lower_case": true, "model_max_length": 24, "tokenizer_class": "BertTokenizer"})");
  return folder;
}

TEST_CASE("what a folder has beside its weights outlives it, a resume, and a run from the run") {
  Scratch scratch;
  const std::string folder = classifier(scratch), data = write(scratch / "a.tsv", table()),
                    settings = content(folder + "/tokenizer_config.json");
  const Words train{"train", "--quiet", "--data", data, "--out"};
  fine(train + Words{scratch / "one", "--steps", "2", "--weights", folder, "--tokenizer", folder},
       SINTER_REVIEWS);
  fine({"train", "--quiet", "--resume", "--steps", "4", "--out", scratch / "one"}, SINTER_REVIEWS);
  fs::remove_all(folder);
  fine(train + Words{scratch / "two", "--steps", "2", "--weights", scratch / "one", "--tokenizer",
                     scratch / "one/origin-1"},
       SINTER_REVIEWS);
  fs::remove_all(scratch / "one");
  const std::string out = scratch / "exported";
  const Ended ended = fine({"export", "--weights", scratch / "two", "--out", out}, SINTER_REVIEWS);
  CHECK(std::ranges::count(ended.err, '\n') == 1);
  CHECK(ended.says("the weights are those of step 2, the run's best"));

  const Json config = json_in(out + "/config.json");
  CHECK(config["id2label"] == Json{{"0", "NEGATIVE"}, {"1", "POSITIVE"}});
  CHECK(config["label2id"] == Json{{"NEGATIVE", 0}, {"POSITIVE", 1}});
  CHECK(config["finetuning_task"] == "reviews");
  CHECK(config["initializer_range"] == 0.5);
  CHECK(config["pad_token_id"] == 0);
  CHECK(config["architectures"] == Json{"BertForSequenceClassification"});
  CHECK_FALSE(config.contains("_name_or_path"));
  CHECK(content(out + "/vocab.txt") == words);
  CHECK(content(out + "/tokenizer_config.json") == settings);
  CHECK_FALSE(fs::exists(out + "/generation_config.json"));
  check_by_transformers(out, {"very good film", "the bad film"}, SINTER_REVIEWS);
}

TEST_CASE(
    "a run keeps what its weights came with once, and puts nothing in the place of another's") {
  Scratch scratch;
  const std::string folder = classifier(scratch), out = scratch / "run";
  fs::create_directories(out + "/origin-1");
  write(out + "/origin-1/mine", "mine");
  const Words train{"train", "--quiet", "--data", write(scratch / "a.tsv", table()), "--out", out};
  fine(train + Words{"--steps", "2", "--weights", folder, "--tokenizer", folder}, SINTER_REVIEWS);
  fine({"train", "--quiet", "--resume", "--steps", "3", "--out", out}, SINTER_REVIEWS);
  CHECK(content(out + "/origin-1/mine") == "mine");
  CHECK(fs::exists(out + "/origin-2/vocab.txt"));
  CHECK_FALSE(fs::exists(out + "/origin-3"));

  write(folder + "/vocab.txt", words + "new\n");  // the resumed run reads its text by this one
  fine({"train", "--quiet", "--resume", "--steps", "4", "--out", out}, SINTER_REVIEWS);
  CHECK(content(out + "/origin-3/vocab.txt") == words + "new\n");
  CHECK(content(out + "/origin-2/vocab.txt") == words);
  fine({"export", "--weights", out, "--out", scratch / "a"}, SINTER_REVIEWS);
  CHECK(content(scratch / "a/vocab.txt") == words + "new\n");

  fs::remove(out + "/origin-3/vocab.txt");
  fs::create_symlink("/etc/hostname", out + "/origin-3/vocab.txt");
  check_refused(run({"export", "--weights", out, "--out", scratch / "b"}, SINTER_REVIEWS), 1,
                "origin-3 is not as the run has written it: a folder of files, without links");
  fs::remove_all(out + "/origin-3");
  fine({"train", "--quiet", "--resume", "--steps", "5", "--out", out}, SINTER_REVIEWS);
  CHECK(content(out + "/origin-3/vocab.txt") == words + "new\n");
}

TEST_CASE("a tokenizer that was trained here comes with the export, with its end as special id") {
  Scratch scratch;
  setenv("SINTER_CACHE", (scratch / "cache").c_str(), 1);
  const std::string text = write(scratch / "text", some_text(9000)),
                    tokenizer = scratch / "mine.json", out = scratch / "exported";
  fine({"train-tokenizer", "--data", text, "--size", "300", "--special", "<|endoftext|>", "--out",
        tokenizer});
  const std::string made = content(tokenizer);
  fine({"train", "--quiet", "--steps", "2", "--data", text, "--tokenizer", tokenizer, "--out",
        scratch / "run"},
       SINTER_WORDED);
  fs::remove(tokenizer);
  fine({"export", "--weights", scratch / "run", "--out", out}, SINTER_WORDED);
  CHECK(content(out + "/tokenizer.json") == made);
  const Json settings = json_in(out + "/tokenizer_config.json");
  CHECK(settings["tokenizer_class"] == "PreTrainedTokenizerFast");
  CHECK(settings["eos_token"] == "<|endoftext|>");
  CHECK(settings["model_max_length"] == 16);
  for (const char* file : {"/config.json", "/generation_config.json"}) {
    CHECK(json_in(out + file)["eos_token_id"] == 0);
    CHECK(json_in(out + file)["bos_token_id"] == 0);
  }
  check_by_transformers(out, {"the width of", " a layer is;\n"}, SINTER_WORDED);

  const std::string older = scratch / "run/run.json";  // as a run that has kept nothing
  Json starts = json_in(older);
  starts[0].erase("origin");
  write(older, starts.dump());
  CHECK(fine({"export", "--weights", scratch / "run", "--out", scratch / "b"}, SINTER_WORDED)
            .says("note: no tokenizer is written: " + tokenizer +
                  ", by which the run read its text, is gone. --tokenizer PATH adds one."));
  fine({"export", "--weights", scratch / "run", "--tokenizer", out, "--out", scratch / "c"},
       SINTER_WORDED);
  CHECK(content(scratch / "c/tokenizer.json") == made);
  const std::string large = SINTER_SOURCE_DIR "/tests/data/tokenizer/trained.json";
  CHECK(fine({"export", "--tokenizer", large, "--out", scratch / "d"}, SINTER_REVIEWS)
            .says("note: the tokenizer " + large +
                  " has 500 tokens, and the model's vocabulary is 300"));
}

TEST_CASE("a classifier's tokenizer marks texts as training did, and classes have usual names") {
  Scratch scratch;
  const std::string data = write(scratch / "a.tsv", table()), tokenizer = scratch / "mine.json",
                    out = scratch / "exported";
  fine({"train-tokenizer", "--as-text", "--data", data, "--size", "280", "--special", "[CLS]",
        "[SEP]", "--out", tokenizer});
  fine({"train", "--quiet", "--steps", "3", "--data", data, "--tokenizer", tokenizer, "--out",
        scratch / "run"},
       SINTER_REVIEWS);
  fine({"export", "--weights", scratch / "run", "--out", out}, SINTER_REVIEWS);
  const Json config = json_in(out + "/config.json");
  CHECK(config["id2label"] == Json{{"0", "LABEL_0"}, {"1", "LABEL_1"}});
  CHECK(config["label2id"] == Json{{"LABEL_0", 0}, {"LABEL_1", 1}});
  const Json marks = json_in(out + "/tokenizer.json")["post_processor"];
  CHECK(marks["type"] == "TemplateProcessing");
  CHECK(marks["single"][0]["SpecialToken"]["id"] == "[CLS]");
  CHECK(marks["special_tokens"]["[SEP]"]["ids"] == Json{1});
  check_by_transformers(out, {"very good film", "The film very bad"}, SINTER_REVIEWS);
}

TEST_CASE("a model of bytes has a tokenizer whose ids are the bytes") {
  Scratch scratch;
  fine({"export", "--out", scratch / "a"});
  const std::string every = [] {
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte) bytes += char(byte);
    return bytes;
  }();
  const Json ids = fine({"tokenize", "--tokenizer", scratch / "a", "--text",
                         write(scratch / "text", every), "--json"})
                       .json()["ids"];
  REQUIRE(ids.size() == 256);
  for (int byte = 0; byte < 256; ++byte) CHECK(ids[std::size_t(byte)] == byte);
  check_by_transformers(scratch / "a", {"the width", "\xc3\xa9\n  x"}, SINTER_SMALL);
}

TEST_CASE("weights of 16 bits keep their type, unless --dtype names another") {
  Scratch scratch;
  setenv("SINTER_CACHE", (scratch / "cache").c_str(), 1);
  auto types = [&](const char* folder) {
    return types_in(scratch / folder + "/model.safetensors");
  };
  auto type_said = [&](const char* folder) {
    return json_in(scratch / folder + "/config.json")["torch_dtype"];
  };
  fine({"export", "--dtype", "bfloat16", "--seed", "3", "--out", scratch / "bf16"});
  CHECK(types("bf16") == std::set<std::string>{"BF16"});
  CHECK(type_said("bf16") == "bfloat16");
  const std::string text = write(scratch / "text", some_text(3000));
  fine({"train", "--quiet", "--steps", "2", "--weights", scratch / "bf16", "--data", text, "--out",
        scratch / "run"});
  const Ended ended = fine({"export", "--weights", scratch / "run", "--out", scratch / "tuned"});
  CHECK(
      ended.says("note: the weights are written as bfloat16, the type that they had before "
                 "training; --dtype float32 keeps all digits."));
  CHECK(types("tuned") == std::set<std::string>{"BF16"});
  CHECK(type_said("tuned") == "bfloat16");
  fine({"export", "--weights", scratch / "run", "--dtype", "float32", "--out", scratch / "wide"});
  CHECK(types("wide") == std::set<std::string>{"F32"});
  CHECK(type_said("wide") == "float32");
  fine(
      {"export", "--weights", scratch / "wide", "--dtype", "bfloat16", "--out", scratch / "again"});
  CHECK(content(scratch / "again/model.safetensors") ==
        content(scratch / "tuned/model.safetensors"));
  check_refused(run({"export", "--out", scratch / "x", "--dtype", "bf16"}), 2,
                "--dtype takes float32, bfloat16, float16 or float64, not 'bf16'");
}

TEST_CASE("export --gguf writes a run as one file, and refuses what a file cannot be") {
  Scratch scratch;
  setenv("SINTER_CACHE", (scratch / "cache").c_str(), 1);
  const std::string text = write(scratch / "text", some_text(9000)),
                    tokenizer = scratch / "mine.json", file = scratch / "a.gguf";
  fine({"train-tokenizer", "--data", text, "--size", "300", "--special", "<|endoftext|>", "--out",
        tokenizer});
  fine({"train", "--quiet", "--steps", "2", "--data", text, "--tokenizer", tokenizer, "--out",
        scratch / "run"},
       SINTER_WORDED);
  fs::remove(tokenizer);
  const Ended ended =
      fine({"export", "--weights", scratch / "run", "--gguf", file, "--json"}, SINTER_WORDED);
  CHECK(ended.json()["file"] == file);
  const std::string made = content(file);
  CHECK(made.starts_with("GGUF"));
  CHECK(made.find("tokenizer.ggml.merges") != made.npos);
  CHECK(made.find("<|endoftext|>") != made.npos);
  fine(
      {"export", "--weights", scratch / "run", "--gguf", scratch / "b.gguf", "--dtype", "bfloat16"},
      SINTER_WORDED);
  CHECK(content(scratch / "b.gguf").size() < made.size());

  check_refused(run({"export", "--gguf", file}), 1, "it exists. Name a new file");
  CHECK(content(file) == made);
  const std::string other = scratch / "c.gguf";
  check_refused(run({"export"}), 2, "--out DIR");
  check_refused(run({"export", "--gguf", other, "--out", scratch / "c"}), 2,
                "--out and --gguf exclude each other");
  check_refused(run({"export", "--gguf", other, "--max-shard-size", "5GB"}), 2,
                "--max-shard-size and --gguf exclude each other");
  check_refused(run({"export", "--gguf", other, "--dtype", "float64"}), 2,
                "--gguf takes --dtype float32, float16 or bfloat16");
  check_refused(run({"export", "--gguf", other}, SINTER_REVIEWS), 1,
                "a model of the type bert is not written as GGUF");
  check_refused(run({"export", "--gguf", other}, SINTER_WORDED), 1, "no tokenizer is known");
  check_refused(run({"export", "--gguf", scratch / "none/c.gguf"}), 1, "Cannot");
  CHECK_FALSE(fs::exists(other));
  fine({"export", "--gguf", other});
  CHECK(content(other).starts_with("GGUF"));
}

TEST_CASE("a BertModel, whose tensors have shorter names, gets a fresh head that is said") {
  Scratch scratch;
  const std::string folder = classifier(scratch), data = write(scratch / "a.tsv", table());
  make_body(folder + "/model.safetensors");
  const Ended ended = fine({"train", "--steps", "1", "--data", data, "--weights", folder,
                            "--tokenizer", folder, "--out", scratch / "run"},
                           SINTER_REVIEWS);
  CHECK(
      ended.says("the weights have no such head: classifier.weight, classifier.bias start fresh"));
}

}  // namespace sinter::detail::testing::export_tests
