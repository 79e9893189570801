// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/json_normalizer.hpp"

#include "data/tokenizer/json_splits.hpp"

namespace sinter::detail {
namespace {

using Json = nlohmann::json;

BertNormalizing bert_normalizing(const JsonFields& fields) {
  auto flag = [&](const char* key) {
    if (fields.at(key).is_null()) fields.refuse(key, "true and false are");
    return fields.flag(key, false);
  };
  const bool lowercase = flag("lowercase");
  return {.clean_text = flag("clean_text"),
          .handle_chinese_chars = flag("handle_chinese_chars"),
          .strip_accents = fields.flag("strip_accents", lowercase),
          .lowercase = lowercase};
}

}  // namespace

bool read_normalizer(const Json& component, const std::string& where, Normalizer& normalizer) {
  const std::string type = type_of(component, where);
  if (type == "BertNormalizer") {
    normalizer.add(bert_normalizing(
        JsonFields(component, where + " BertNormalizer",
                   {"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"})));
    return true;
  }
  if (type == "Replace") {
    const JsonFields fields(component, where + " Replace", {"type", "pattern", "content"});
    TextPattern pattern = text_pattern(json_pattern(fields));
    if (pattern.may_match_nothing())
      fields.refuse("pattern", "one is whose matches have at least a character");
    normalizer.add(Replacement{std::make_shared<const TextPattern>(std::move(pattern)),
                               fields.text("content")});
    return true;
  }
  struct Simple {
    const char* name;
    Change change;
  };
  for (const Simple& simple : {Simple{"NFC", Change::nfc},
                               {"NFD", Change::nfd},
                               {"NFKC", Change::nfkc},
                               {"NFKD", Change::nfkd},
                               {"Lowercase", Change::lowercase},
                               {"StripAccents", Change::strip_accents}}) {
    if (type != simple.name) continue;
    const JsonFields fields(component, where + " " + type, {"type"});
    normalizer.add(simple.change);
    return true;
  }
  return false;
}

}  // namespace sinter::detail
