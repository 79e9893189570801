// SPDX-License-Identifier: Apache-2.0
// The tokenizer.json of Hugging Face's tokenizers: its model and its added tokens. What becomes of a
// text before and after the model is in json_components.cpp.
#include "data/tokenizer/json_components.hpp"
#include "data/tokenizer/load.hpp"
#include "data/tokenizer/wordpiece_json.hpp"
#include "files/json.hpp"

namespace sinter::detail {
namespace {

using Json = nlohmann::json;

/// Whether a field that changes what a BPE does is left out.
bool is_unset(const Json& value) {
  return value.is_null() || value == "" || (value.is_number() && value.get<double>() == 0);
}

/// Files of older versions do not name the type of a BPE.
std::string model_type(const Json& model) {
  if (!model.is_object() || !model.contains("type")) return "BPE";
  return type_of(model, "its model");
}

JsonFields model_of(const Json& model) {
  const JsonFields fields(
      model, "its model",
      {"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
       "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"});
  for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"})
    if (!is_unset(fields.at(key))) fields.refuse(key, "null is");
  return fields;
}

/// A merge is two tokens in a list, or in older files a text with a blank between them.
std::vector<Merge> merges_of(const JsonFields& model, const Vocabulary& vocabulary) {
  const Json& list = model.at("merges");
  if (!list.is_array()) throw TokenizerProblem("its model has no list 'merges'");
  std::vector<Merge> merges;
  merges.reserve(list.size());
  for (const Json& merge : list) {
    const std::string where = fmt::format("merge {}", merges.size() + 1);
    if (merge.is_string()) {
      merges.push_back(vocabulary.merge(merge.get_ref<const std::string&>(), where));
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
               merge[1].is_string()) {
      merges.push_back(vocabulary.merge(merge[0].get_ref<const std::string&>(),
                                        merge[1].get_ref<const std::string&>(), where));
    } else {
      throw TokenizerProblem(where + " is no pair of tokens");
    }
  }
  require_different(merges);
  return merges;
}

/// Reads the added tokens into the parts and into the vocabulary, and the spellings of their ids.
template <class Parts>
void read_added(const Json& list, Vocabulary& vocabulary, Parts& parts) {
  if (list.is_null()) return;
  if (!list.is_array()) throw TokenizerProblem("'added_tokens' is no list");
  for (const Json& entry : list) {
    const JsonFields fields(
        entry, fmt::format("entry {} of 'added_tokens'", parts.added.size() + 1),
        {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    AddedToken token{.id = fields.integer("id"),
                     .text = fields.text("content"),
                     .strips_left = fields.flag("lstrip", false),
                     .strips_right = fields.flag("rstrip", false),
                     .normalized = fields.flag("normalized", true),
                     .single_word = fields.flag("single_word", false)};
    vocabulary.add(token.text, token.id);
    if (fields.flag("special", false)) parts.special.push_back({token.text, token.id});
    parts.added.push_back(std::move(token));
  }
  parts.tokens.resize(vocabulary.size());
  for (const AddedToken& token : parts.added) parts.tokens[std::size_t(token.id)] = token.text;
}

/// Fills in the tokens of a BPE over characters, and those that stand for bytes.
void set_characters(BpeParts& parts, const Vocabulary& vocabulary) {
  parts.tokens.resize(vocabulary.size());
  for (const auto& [spelling, id] : vocabulary.all()) {
    parts.tokens[std::size_t(id)] = replaced(spelling, blank_mark, " ");
    const std::size_t bytes = well_formed(spelling);
    if (bytes == spelling.size()) parts.of_character[code_point(spelling.data(), bytes)] = id;
  }
  for (int byte = 0; byte < 256; ++byte) {
    const std::string spelling = fmt::format("<0x{:02X}>", byte);
    const std::optional<std::int32_t> id = vocabulary.find(spelling);
    if (!id)
      throw TokenizerProblem(
          fmt::format("it has 'byte_fallback', but no token {} in its vocabulary", spelling));
    parts.of_byte[std::size_t(byte)] = *id;
    parts.tokens[std::size_t(*id)] = std::string(1, char(byte));
  }
}

BpeParts read_bpe(const JsonFields& file) {
  const JsonFields model = model_of(file.at("model"));
  BpeParts parts;
  read_components(file, model.flag("byte_fallback", false), parts);
  Vocabulary vocabulary(model.at("vocab"), "'vocab'");
  if (parts.over_characters)
    set_characters(parts, vocabulary);
  else
    set_byte_level(parts, vocabulary);
  parts.merges = merges_of(model, vocabulary);
  if (model.flag("ignore_merges", false)) {
    for (const auto& [spelling, id] : vocabulary.all()) {
      if (parts.over_characters)
        parts.whole.emplace(spelling, id);
      else if (std::optional<std::string> bytes = bytes_of_spelling(spelling))
        parts.whole.emplace(*bytes, id);
    }
  }
  read_added(file.at("added_tokens"), vocabulary, parts);
  for (const auto* side : {&parts.around.before, &parts.around.behind})
    for (std::int32_t id : *side)
      if (id < 0 || std::size_t(id) >= parts.tokens.size())
        throw TokenizerProblem(
            fmt::format("its post_processor puts the token {} beside a text, and its tokens are "
                        "below {}",
                        id, parts.tokens.size()));
  return parts;
}

WordPieceParts read_wordpiece(const JsonFields& file) {
  const JsonFields model(
      file.at("model"), "its model",
      {"type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"});
  WordPieceParts parts;
  read_components(file, parts);
  Vocabulary vocabulary(model.at("vocab"), "'vocab'");
  set_pieces(parts, vocabulary, model.text("unk_token"), model.text("continuing_subword_prefix"));
  parts.longest_word = integer_of<std::size_t>(model.at("max_input_chars_per_word"),
                                               "'max_input_chars_per_word' of its model");
  read_added(file.at("added_tokens"), vocabulary, parts);
  return parts;
}

}  // namespace

std::variant<BpeParts, WordPieceParts> read_tokenizer_json(std::string_view text) {
  const Json json = parse_large_json(text);
  const JsonFields file(json, "the file",
                        {"version", "truncation", "padding", "added_tokens", "normalizer",
                         "pre_tokenizer", "post_processor", "decoder", "model"});
  for (const char* key : {"truncation", "padding"})  // of batches, which encode() does not make
    if (!file.at(key).is_null() && !file.at(key).is_object()) file.refuse(key, "an object is");
  const std::string type = model_type(file.at("model"));
  if (type == "BPE") return read_bpe(file);
  if (type == "WordPiece") return read_wordpiece(file);
  throw TokenizerProblem(
      fmt::format("its model is of the type {}; BPE and WordPiece are understood", shown(type)));
}

}  // namespace sinter::detail
