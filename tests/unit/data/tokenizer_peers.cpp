// SPDX-License-Identifier: Apache-2.0
// Kinds of tokenizer files that no file of tests/data/tokenizer is of: the ids of random texts, with BOS
// and without, and the texts of ids are those of tokenizers and transformers, where SINTER_PYTHON has them.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sinter/data/tokenizer/tokenizer.hpp"
#include "support/python.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::tokenizer_peers_tests {

using Json = nlohmann::json;

/// Texts of what these files tell apart: words, digits, blanks, tokens, and what normalising changes.
class MixedTexts {
  std::mt19937 random{5};

 public:
  std::string next() {
    static const std::vector<std::string> parts{"the",      "king",
                                                "no",       "noise",
                                                "fox",      "dogs",
                                                "x",        "The",
                                                "NO",       " ",
                                                " ",        " ",
                                                "  ",       "\n",
                                                "\n\n",     "\t",
                                                "\r\n",     ".",
                                                ",",        "!",
                                                "-",        "_",
                                                "'s",       "'LL",
                                                "(",        "1",
                                                "23",       "4567",
                                                "\u00bd",   "\u00e9",
                                                "e\u0301",  "\ufb01",
                                                "\u2460",   "\uff21",
                                                "\u3000",   "\u200b",
                                                "\u4e2d",   "\u3044\u308d",
                                                "\u0130",   "\u1e9e",
                                                "\u00df",   "\u0301",
                                                "\u0663",   "\U0001f600",
                                                "\u00a0",   "<s>",
                                                "</s>",     "<mask>",
                                                "<|end|>",  "[MASK]",
                                                "[CLS]",    "new",
                                                "New Word", "\u2581",
                                                "q7",       "\u212b",
                                                "\u0958",   "\u1100\u1161"};
    std::string text;
    for (std::uint32_t left = 1 + std::uint32_t(random()) % 16; left > 0; --left)
      text += parts[random() % parts.size()];
    return text;
  }
};

Json added(int id, const std::string& content, const Json& facts) {
  Json token{{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
             {"rstrip", false}, {"normalized", false}, {"special", false}};
  token.update(facts);
  return token;
}

Json regex_split(const std::string& pattern, const std::string& behavior, bool invert = false) {
  return {{"type", "Split"},
          {"pattern", {{"Regex", pattern}}},
          {"behavior", behavior},
          {"invert", invert}};
}

Json sequence(const std::string& list, const Json& parts) {
  return {{"type", "Sequence"}, {list, parts}};
}

/// What puts a BOS before a text.
Json beginning_with(const std::string& token, int id) {
  const auto sequence = [](const char* name, int type) {
    return Json{{"Sequence", {{"id", name}, {"type_id", type}}}};
  };
  return {{"type", "TemplateProcessing"},
          {"single", {{{"SpecialToken", {{"id", token}, {"type_id", 0}}}}, sequence("A", 0)}},
          {"pair", {sequence("A", 0), sequence("B", 1)}},
          {"special_tokens", {{token, {{"id", token}, {"ids", {id}}, {"tokens", {token}}}}}}};
}

/// Kinds of tokenizer.json, made of those in tests/data/tokenizer.
std::vector<std::pair<std::string, Json>> kinds_of_json() {
  const Json qwen2 = Json::parse(get(references / "qwen2.json")),
             bert = Json::parse(get(references / "bert_uncased.json"));
  const Json bytes{{"type", "ByteLevel"},
                   {"add_prefix_space", false},
                   {"trim_offsets", true},
                   {"use_regex", false}};
  std::vector<std::pair<std::string, Json>> kinds;
  const auto add = [&](const std::string& name, Json base, const auto& change) {
    change(base);
    kinds.emplace_back(name, std::move(base));
  };
  const auto cut_by = [&](const std::vector<Json>& steps) {
    return [&, steps](Json& json) {
      Json all = Json(steps);
      all.push_back(bytes);
      json["pre_tokenizer"] = sequence("pretokenizers", all);
    };
  };
  const auto digits = [](bool alone) {
    return Json{{"type", "Digits"}, {"individual_digits", alone}};
  };
  add("digits", qwen2, cut_by({digits(true)}));
  add("groups of digits", qwen2, cut_by({digits(false)}));
  add("punctuation", qwen2, cut_by({Json{{"type", "Punctuation"}, {"behavior", "Isolated"}}}));
  add("split, removed", qwen2, cut_by({regex_split(R"(\s+)", "Removed")}));
  add("split, merged with previous", qwen2,
      cut_by({regex_split(R"([.,!\-])", "MergedWithPrevious")}));
  add("split, merged with next", qwen2, cut_by({regex_split(R"(\p{Lu})", "MergedWithNext")}));
  add("split, contiguous", qwen2, cut_by({regex_split(R"(\p{N})", "Contiguous")}));
  add("split, inverted", qwen2, cut_by({regex_split(R"(\w+|\s)", "Isolated", true)}));
  add("splits of DeepSeek", qwen2,
      cut_by(
          {regex_split(R"(\p{N}{1,3})", "Isolated"),
           regex_split("[\u4e00-\u9fa5\u3040-\u30ff]+", "Isolated"),
           regex_split(
               R"([!-/:-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
               "Isolated")}));
  for (const char* form : {"NFC", "NFD", "NFKC", "NFKD"})
    add(form, qwen2, [&](Json& json) { json["normalizer"] = {{"type", form}}; });
  add("replace", qwen2, [](Json& json) {
    json["normalizer"] =
        sequence("normalizers",
                 {{{"type", "NFKC"}},
                  {{"type", "Replace"}, {"pattern", {{"Regex", R"(\s{2,})"}}}, {"content", " "}},
                  {{"type", "Replace"}, {"pattern", {{"String", "king"}}}, {"content", "queen"}}});
  });
  add("added tokens", qwen2, [](Json& json) {
    int id = 0;
    for (const Json& token : json["added_tokens"]) id = std::max(id, token["id"].get<int>());
    for (const auto& [name, value] : json["model"]["vocab"].items())
      id = std::max(id, value.get<int>());
    json["added_tokens"].push_back(added(++id, "new", {{"single_word", true}}));
    json["added_tokens"].push_back(added(++id, "<mask>", {{"lstrip", true}, {"special", true}}));
    json["added_tokens"].push_back(added(++id, "</s>", {{"rstrip", true}}));
    json["added_tokens"].push_back(
        added(++id, "q7", {{"normalized", true}, {"single_word", true}}));
  });
  add("truncation and padding", qwen2, [](Json& json) {
    json["truncation"] = {
        {"direction", "Right"}, {"max_length", 3}, {"strategy", "LongestFirst"}, {"stride", 0}};
    json["padding"] = {{"strategy", {{"Fixed", 8}}},
                       {"direction", "Right"},
                       {"pad_to_multiple_of", nullptr},
                       {"pad_id", 0},
                       {"pad_type_id", 0},
                       {"pad_token", "!"}};
  });
  add("Llama 2 with BOS", Json::parse(get(references / "llama2.json")),
      [](Json& json) { json["post_processor"] = beginning_with("<s>", 1); });
  add("WordPiece with accents", bert,
      [](Json& json) { json["normalizer"]["strip_accents"] = false; });
  add("WordPiece without cuts of Chinese", bert,
      [](Json& json) { json["normalizer"]["handle_chinese_chars"] = false; });
  add("WordPiece that keeps control characters", bert,
      [](Json& json) { json["normalizer"]["clean_text"] = false; });
  return kinds;
}

/// Writes folders without a tokenizer.json, of which files say how their vocabulary is used.
std::vector<fs::path> folders_in(const fs::path& parent) {
  const Json qwen2 = Json::parse(get(references / "qwen2.json")),
             bert = Json::parse(get(references / "bert_cased.json"));
  std::string merges = "#version: 0.2\n", pieces;
  for (const Json& merge : qwen2["model"]["merges"])
    merges +=
        (merge.is_string() ? merge.get<std::string>()
                           : merge[0].get<std::string>() + " " + merge[1].get<std::string>()) +
        "\n";
  std::vector<std::string> by_id(bert["model"]["vocab"].size());
  for (const auto& [piece, id] : bert["model"]["vocab"].items()) by_id.at(id) = piece;
  for (const std::string& piece : by_id) pieces += piece + "\n";
  Json vocabulary = qwen2["model"]["vocab"];
  for (const char* token : {"<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|endoftext|>"})
    if (!vocabulary.contains(token)) vocabulary[token] = vocabulary.size();
  std::vector<fs::path> folders;
  const auto add = [&](const std::string& name, const Json& settings, bool is_bert) {
    folders.push_back(parent / name);
    fs::create_directory(folders.back());
    put(folders.back() / "tokenizer_config.json", settings.dump());
    if (is_bert) {
      put(folders.back() / "vocab.txt", pieces);
    } else {
      put(folders.back() / "vocab.json", vocabulary.dump());
      put(folders.back() / "merges.txt", merges);
    }
  };
  add("gpt2", {{"tokenizer_class", "GPT2Tokenizer"}}, false);
  add("gpt2_prefixed", {{"tokenizer_class", "GPT2Tokenizer"}, {"add_prefix_space", true}}, false);
  add("qwen2", {{"tokenizer_class", "Qwen2Tokenizer"}}, false);
  add("gpt2_bos",
      {{"tokenizer_class", "GPT2Tokenizer"}, {"add_bos_token", true}, {"bos_token", "<s>"}}, false);
  add("roberta", {{"tokenizer_class", "RobertaTokenizer"}}, false);
  add("bert_cased", {{"tokenizer_class", "BertTokenizer"}, {"do_lower_case", false}}, true);
  add("bert_accents",
      {{"tokenizer_class", "BertTokenizer"}, {"do_lower_case", true}, {"strip_accents", false}},
      true);
  Json mistral = Json::parse(get(references / "mistral.json"));
  mistral["post_processor"] = beginning_with("<s>", 1);
  folders.push_back(parent / "mistral");  // as save_pretrained leaves it
  fs::create_directory(folders.back());
  put(folders.back() / "tokenizer.json", mistral.dump());
  put(folders.back() / "tokenizer_config.json",
      R"({"tokenizer_class": "LlamaTokenizer", "add_bos_token": true, "bos_token": "<s>"})");
  return folders;
}

/// Whether Sinter puts the special tokens around a whole text. LabelledText puts those of BERT and
/// RoBERTa.
bool puts_marks(const fs::path& path) {
  const std::string name = path.filename();
  return !contains(name, "bert") && !contains(name, "WordPiece");
}

TEST_CASE("random texts have the ids of tokenizers for each kind of file, and ids its texts") {
  const auto python = python_with("tokenizers, transformers");
  if (!python) return;
  const char* asked = std::getenv("SINTER_TEST_TEXTS");
  TemporaryFolder folder;
  MixedTexts mixed;
  std::vector<std::string> texts;
  std::ofstream file(folder / "texts");
  for (long k = asked ? std::atol(asked) : 20'000; k > 0; --k) {
    texts.push_back(mixed.next());
    file << Json(texts.back()).dump() << '\n';
  }
  file.close();
  std::vector<fs::path> paths = folders_in(folder.path());
  for (const auto& [name, json] : kinds_of_json()) {
    paths.push_back(folder / (name + ".json"));
    put(paths.back(), json.dump());
  }
  for (const fs::path& path : paths) {
    CAPTURE(path);
    const std::string command = "'" + *python +
                                "' '" SINTER_SOURCE_DIR "/tests/support/ids_of_tokenizers.py' '" +
                                path.string() + "' '" + (folder / "texts").string() + "' all > '" +
                                (folder / "ids").string() + "'";
    REQUIRE(std::system(command.c_str()) == 0);
    const Tokenizer tokenizer = load_tokenizer(path);
    std::ifstream answers(folder / "ids");
    int others = 0;
    for (const std::string& text : texts) {
      std::string line;
      REQUIRE(std::getline(answers, line));
      const Json expected = Json::parse(line);
      const TokenIds ids = expected["ids"], found = tokenizer.encode(text),
                     whole = puts_marks(path) ? tokenizer.encode_whole(text)
                                              : expected["whole"].get<TokenIds>();
      const std::string text_of_ids = tokenizer.text_of(ids);
      if (found == ids && whole == expected["whole"] && text_of_ids == expected["text"]) continue;
      if (++others > 3) continue;
      CAPTURE(text);
      CHECK(found == ids);
      CHECK(whole == expected["whole"].get<TokenIds>());
      CHECK(text_of_ids == expected["text"].get<std::string>());
    }
    CHECK(others == 0);
  }
}

}  // namespace sinter::detail::testing::tokenizer_peers_tests
