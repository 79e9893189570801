// SPDX-License-Identifier: Apache-2.0
#include "hugging_face/tokenizer_files.hpp"

#include <algorithm>
#include <sstream>

#include "data/tokenizer/normalizer.hpp"
#include "data/tokenizer/vocabulary.hpp"
#include "files/json.hpp"
#include "sinter/data/labelled_set.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail::hugging_face {
namespace {

namespace fs = std::filesystem;
using Json = Origin::Json;

constexpr const char *whole_file = "tokenizer.json", *settings_file = "tokenizer_config.json";

/// Two marks, as LabelledSet puts them around texts.
struct Marks {
  std::string first, last;
  std::int64_t first_id, last_id;
  TextMarks as = TextMarks::bert;
};

/// The marks that a type of model reads.
TextMarks marks_of_type(const std::string& model_type) {
  return model_type == "roberta" ? TextMarks::roberta : TextMarks::bert;
}

/// What puts marks around one text or two, as TextMarks has them.
Json template_of(const Marks& marks) {
  auto mark = [](const std::string& text, int type) {
    return Json{{"SpecialToken", {{"id", text}, {"type_id", type}}}};
  };
  auto text = [](const char* id, int type) {
    return Json{{"Sequence", {{"id", id}, {"type_id", type}}}};
  };
  Json single = Json::array({mark(marks.first, 0), text("A", 0), mark(marks.last, 0)});
  Json pair = single;
  const int second = marks.as == TextMarks::bert ? 1 : 0;
  if (marks.as == TextMarks::roberta) pair.push_back(mark(marks.last, 0));
  pair.push_back(text("B", second));
  pair.push_back(mark(marks.last, second));
  Json special = Json::object();
  for (const auto& [name, id] :
       {std::pair(marks.first, marks.first_id), std::pair(marks.last, marks.last_id)})
    special[name] = {{"id", name}, {"ids", {id}}, {"tokens", {name}}};
  return {{"type", "TemplateProcessing"},
          {"single", std::move(single)},
          {"pair", std::move(pair)},
          {"special_tokens", std::move(special)}};
}

Json special_token(const std::string& text, std::int64_t id) {
  return {{"id", id},        {"content", text},     {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

/// True for a tokenizer.json that adds no special tokens to a text.
bool marks_nothing(const nlohmann::json& tokenizer) {
  const auto found = tokenizer.find("post_processor");
  return found == tokenizer.end() || found->is_null() ||
         (found->is_object() && found->value("type", "") == "ByteLevel");
}

/// The text of a tokenizer.json with the marks of labelled texts, if it has none; else empty.
std::string with_marks(const fs::path& file, TextMarks as) {
  nlohmann::json json = parse_large_json(read_file(file));
  if (!json.is_object() || !marks_nothing(json)) return "";
  const Tokenizer tokenizer = load_tokenizer(file);
  const ExampleMarks marks = labelled_marks_of(tokenizer, as);
  auto name = [&](std::int32_t id) {
    const auto found = std::ranges::find(tokenizer.special, id, &SpecialToken::id);
    return found == tokenizer.special.end() ? "" : found->name;
  };
  if (name(marks.start).empty() || name(marks.end).empty()) return "";
  json["post_processor"] =
      template_of({name(marks.start), name(marks.end), marks.start, marks.end, as});
  return json.dump(2) + "\n";
}

/// True if capitals matter in a vocab.txt, as load_tokenizer() decides it: a token has one.
bool has_capitals(const fs::path& file) {
  const Normalizer lowercase({Change::lowercase});
  std::istringstream lines(read_file(file));
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    const bool is_special = line == "[UNK]" || line == "[SEP]" || line == "[PAD]" ||
                            line == "[CLS]" || line == "[MASK]";
    if (!is_special && lowercase.apply(line) != line) return true;
  }
  return false;
}

/// The class of transformers that reads an origin's files; empty if that is not known.
std::string class_of(const Origin& origin, const std::string& model_type) {
  if (!origin.file(whole_file).empty()) return "PreTrainedTokenizerFast";
  if (!origin.file("vocab.json").empty() && !origin.file("merges.txt").empty())
    return model_type == "roberta" ? "RobertaTokenizer" : "GPT2Tokenizer";
  if (!origin.file("vocab.txt").empty()) return "BertTokenizer";
  const bool is_llama = model_type == "llama" || model_type == "mistral";
  return is_llama && !origin.file("tokenizer.model").empty() ? "LlamaTokenizer" : "";
}

Json settings_of(const std::string& name, const TokenizerUse& use) {
  Json json{{"tokenizer_class", name}, {"clean_up_tokenization_spaces", false}};
  if (use.positions > 0) json["model_max_length"] = use.positions;
  return json;
}

void write_json(const fs::path& file, const Json& json) {
  write_file_atomically(file, file_text(json));
}

/// Makes the tokenizer_config.json of a tokenizer that has none.
void write_settings(const Origin& origin, const std::vector<TokenInUse>& tokens,
                    const TokenizerUse& use, const fs::path& into) {
  const std::string name = class_of(origin, use.model_type);
  if (name.empty()) return;
  Json json = settings_of(name, use);
  if (name == "GPT2Tokenizer")  // it would add its own to a vocabulary without them
    for (const char* key : {"bos_token", "eos_token", "unk_token"}) json[key] = nullptr;
  if (name == "BertTokenizer") {
    json["do_lower_case"] = !has_capitals(origin.file("vocab.txt"));
    json["clean_up_tokenization_spaces"] = true;
  }
  for (const TokenInUse& token : tokens) json[token.use + "_token"] = token.text;
  write_json(into / settings_file, json);
}

}  // namespace

void write_tokenizer(const Origin& origin, const std::vector<TokenInUse>& tokens,
                     const TokenizerUse& use, const fs::path& into) {
  for (const TokenizerFile& file : origin.tokenizer) {
    std::string text;
    if (use.classifies && file.name == whole_file)
      text = with_marks(file.from, marks_of_type(use.model_type));
    write_file_atomically(into / file.name, text.empty() ? read_file(file.from) : text);
  }
  if (origin.file(settings_file).empty()) write_settings(origin, tokens, use, into);
}

void write_byte_tokenizer(const TokenizerUse& use, const fs::path& into) {
  constexpr int bytes = 256;
  Json vocabulary = Json::object(), added = Json::array(), post_processor;
  for (int byte = 0; byte < bytes; ++byte)
    vocabulary[spelling_of_bytes(std::string(1, char(byte)))] = byte;
  Json settings = settings_of("PreTrainedTokenizerFast", use);
  if (use.classifies) {
    const Marks marks{"__start__", "__end__", bytes, bytes + 1, marks_of_type(use.model_type)};
    added = {special_token(marks.first, marks.first_id), special_token(marks.last, marks.last_id)};
    post_processor = template_of(marks);
    settings["cls_token"] = marks.first;
    settings["sep_token"] = settings["pad_token"] = marks.last;
  }
  const Json level{{"type", "ByteLevel"},
                   {"add_prefix_space", false},
                   {"trim_offsets", true},
                   {"use_regex", false}};
  write_json(into / whole_file, {{"version", "1.0"},
                                 {"truncation", nullptr},
                                 {"padding", nullptr},
                                 {"added_tokens", added},
                                 {"normalizer", nullptr},
                                 {"pre_tokenizer", level},
                                 {"post_processor", post_processor},
                                 {"decoder", level},
                                 {"model",
                                  {{"type", "BPE"},
                                   {"dropout", nullptr},
                                   {"unk_token", nullptr},
                                   {"continuing_subword_prefix", nullptr},
                                   {"end_of_word_suffix", nullptr},
                                   {"fuse_unk", false},
                                   {"byte_fallback", false},
                                   {"vocab", vocabulary},
                                   {"merges", Json::array()}}}});
  write_json(into / settings_file, settings);
}

}  // namespace sinter::detail::hugging_face
