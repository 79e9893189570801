// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/json_components.hpp"

#include "data/tokenizer/json_normalizer.hpp"
#include "data/tokenizer/json_splits.hpp"

namespace sinter::detail {
namespace {

using Json = nlohmann::json;

/// Requires a Replace of `from` by `to`.
void read_replace(const Json& component, const std::string& where, std::string_view from,
                  std::string_view to) {
  const JsonFields fields(component, where + " Replace", {"type", "pattern", "content"});
  const JsonPattern pattern = json_pattern(fields);
  if (pattern.is_regex || pattern.text != from)
    fields.refuse("pattern", fmt::format("'{}' is", from));
  if (fields.text("content") != to) fields.refuse("content", fmt::format("'{}' is", to));
}

/// The components of one file, one after the other.
class Components {
  const JsonFields& file;
  const bool byte_fallback;
  BpeParts& parts;
  bool byte_level = false, replaces_blanks = false, splits = false;
  Json known_split;  // the last, if parts.pattern is its

 public:
  Components(const JsonFields& f, bool fallback, BpeParts& p)
      : file(f), byte_fallback(fallback), parts(p) {}

  void read() {
    for (const Json* part : flattened(file.at("normalizer"), "normalizers", "its normalizer"))
      normalizer(*part);
    for (const Json* part :
         flattened(file.at("pre_tokenizer"), "pretokenizers", "its pre_tokenizer"))
      pre_tokenizer(*part);
    if (!byte_level && !byte_fallback)
      throw TokenizerProblem(
          "its BPE is neither over bytes, by the pre_tokenizer ByteLevel, nor has it "
          "'byte_fallback', and so not every text has tokens");
    if (byte_level && (replaces_blanks || parts.blanks_before_added))
      throw TokenizerProblem("it has ByteLevel and also writes blanks as ▁");
    if (!byte_level && !replaces_blanks)
      throw TokenizerProblem(
          "with 'byte_fallback' it must write blanks as ▁, by the normalizer Replace or the "
          "pre_tokenizer Metaspace alone, as Llama 2 and Mistral do");
    parts.over_characters = !byte_level;
    for (const Json* part : flattened(file.at("decoder"), "decoders", "its decoder"))
      decoder(*part);
    parts.around = read_post_processor(file);
  }

 private:
  /// Whether a Replace writes blanks as ▁, which over bytes is nothing special.
  bool makes_blanks(const Json& part, const std::string& where) const {
    const JsonFields fields(part, where + " Replace", {"type", "pattern", "content"});
    const JsonPattern pattern = json_pattern(fields);
    return byte_fallback && !pattern.is_regex && pattern.text == " " &&
           fields.text("content") == blank_mark;
  }
  void normalizer(const Json& part) {
    const std::string where = "its normalizer", type = type_of(part, where);
    const bool blanks = type == "Replace" && makes_blanks(part, where);
    if (!parts.blanks_before_added && !blanks && read_normalizer(part, where, parts.normalizer))
      return;
    if (type == "Prepend" || type == "Replace") parts.blanks_before_added = true;
    if (type == "Prepend") {
      const JsonFields fields(part, where + " Prepend", {"type", "prepend"});
      if (fields.text("prepend") != blank_mark) fields.refuse("prepend", "'▁' is");
      parts.prefix = Prefix::always;
    } else if (type == "Replace") {
      read_replace(part, where, " ", blank_mark);
      replaces_blanks = true;
    } else {
      refuse_type(part, where,
                  parts.blanks_before_added
                      ? "after a Prepend or Replace only these are"
                      : "NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, BertNormalizer, "
                        "Prepend and Replace are");
    }
  }

  void pre_tokenizer(const Json& part) {
    const std::string where = "its pre_tokenizer", type = type_of(part, where);
    const bool metaspace = !parts.blanks_before_added && replaces_blanks;
    if (byte_level || metaspace || (type == "Metaspace" && (replaces_blanks || splits)))
      throw TokenizerProblem(fmt::format("{} has a {} where none is understood", where, type));
    if (type == "ByteLevel")
      pre_byte_level(JsonFields(part, where + " ByteLevel",
                                {"type", "add_prefix_space", "trim_offsets", "use_regex"}));
    else if (type == "Metaspace")
      pre_metaspace(part);
    else if (std::optional<Pattern> known = known_pattern(part, where))
      keep_last_pattern(), parts.pattern = *known, known_split = part, splits = true;
    else if (std::optional<SplitStep> step = read_split_step(part, where))
      keep_last_pattern(), parts.splits.push_back(std::move(*step)), splits = true;
    else
      refuse_type(part, where, "ByteLevel, Split, Digits, Punctuation and Metaspace are");
  }
  /// What a Split does that cuts by a pattern for which there is a faster way.
  static std::optional<Pattern> known_pattern(const Json& part, const std::string& where) {
    if (type_of(part, where) != "Split") return {};
    const JsonFields fields(part, where + " Split", {"type", "pattern", "behavior", "invert"});
    const JsonPattern pattern = json_pattern(fields);
    // The patterns leave nothing between their matches, which these two therefore cut alike.
    const bool inverted = fields.flag("invert", false);
    if (!pattern.is_regex || fields.text("behavior") != (inverted ? "Removed" : "Isolated"))
      return {};
    if (pattern.text == gpt2_pattern) return Pattern::gpt2;
    if (pattern.text == llama3_pattern) return Pattern::llama3;
    if (pattern.text == qwen2_pattern) return Pattern::qwen2;
    return {};
  }
  /// The faster way is only for the last cut.
  void keep_last_pattern() {
    if (known_split.is_null()) return;
    parts.splits.push_back(*read_split_step(known_split, "its pre_tokenizer"));
    parts.pattern = Pattern::none;
    known_split = nullptr;
  }
  void pre_byte_level(const JsonFields& fields) {
    byte_level = true;
    if (fields.flag("add_prefix_space", true)) {
      if (splits) fields.refuse("add_prefix_space", "false is, after a Split");
      parts.prefix = Prefix::unless_there;
    }
    if (!fields.flag("use_regex", true)) return;
    keep_last_pattern();
    parts.pattern = Pattern::gpt2;
  }
  void pre_metaspace(const Json& part) {
    const JsonFields fields(
        part, "its pre_tokenizer Metaspace",
        {"type", "replacement", "str_rep", "prepend_scheme", "add_prefix_space", "split"});
    replaces_blanks = true;
    parts.prefix = metaspace_prefix(fields);
    parts.pattern = fields.flag("split", true) ? Pattern::marks : Pattern::none;
  }
  static Prefix metaspace_prefix(const JsonFields& fields) {
    if (fields.text("replacement") != blank_mark) fields.refuse("replacement", "'▁' is");
    if (fields.at("prepend_scheme").is_null())
      return fields.flag("add_prefix_space", true) ? Prefix::unless_there : Prefix::none;
    const std::string scheme = fields.text("prepend_scheme");
    if (scheme == "always") return Prefix::unless_there;
    if (scheme == "first") return Prefix::at_begin_unless_there;
    if (scheme != "never") fields.refuse("prepend_scheme", "always, first and never are");
    return Prefix::none;
  }

  /// What decoding does is known from what encoding does; here is only whether it is the same.
  void decoder(const Json& part) {
    const std::string where = "its decoder", type = type_of(part, where);
    if (byte_level) {
      if (type != "ByteLevel") refuse_type(part, where, "ByteLevel is");
    } else if (type == "Replace") {
      read_replace(part, where, blank_mark, " ");
    } else if (type == "Strip") {
      const JsonFields fields(part, where + " Strip", {"type", "content", "start", "stop"});
      if (fields.text("content") != " ") fields.refuse("content", "' ' is");
      if (fields.integer("stop") != 0) fields.refuse("stop", "0 is");
      const std::int32_t start = fields.integer("start");
      if (start != 0 && start != 1) fields.refuse("start", "0 and 1 are");
      parts.strips_first_blank = start == 1;
    } else if (type == "Metaspace") {
      const JsonFields fields(
          part, where + " Metaspace",
          {"type", "replacement", "str_rep", "prepend_scheme", "add_prefix_space", "split"});
      parts.strips_first_blank = metaspace_prefix(fields) != Prefix::none;
    } else if (type != "ByteFallback" && type != "Fuse") {
      refuse_type(part, where, "Replace, ByteFallback, Fuse, Strip and Metaspace are");
    }
  }
};

}  // namespace

void read_components(const JsonFields& file, bool byte_fallback, BpeParts& parts) {
  Components(file, byte_fallback, parts).read();
}

}  // namespace sinter::detail
