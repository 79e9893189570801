// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/surroundings.hpp"

#include <fmt/format.h>

#include "data/tokenizer/folder_settings.hpp"
#include "files/json.hpp"

namespace sinter::detail {
namespace {

using Json = nlohmann::json;

/// The ids of a special token that a template names.
std::vector<std::int32_t> ids_of(const JsonFields& processor, const std::string& name) {
  const Json& special = processor.at("special_tokens");
  const auto found = special.is_object() ? special.find(name) : special.end();
  if (!special.is_object() || found == special.end())
    throw TokenizerProblem(
        fmt::format("{} names the token {}, and has none of it in "
                    "'special_tokens'",
                    processor.where(), shown(name)));
  const JsonFields token(*found, processor.where() + " special token", {"id", "ids", "tokens"});
  const Json& list = token.at("ids");
  if (!list.is_array()) token.refuse("ids", "a list is");
  std::vector<std::int32_t> ids;
  for (const Json& id : list)
    ids.push_back(integer_of<std::int32_t>(id, "an id of " + token.where()));
  return ids;
}

/// Adds what a template puts around a single text to what is around it already.
void add_template(const JsonFields& processor, Surroundings& around) {
  const Json& single = processor.at("single");
  if (!single.is_array()) processor.refuse("single", "a list is");
  std::vector<std::int32_t> before;
  bool is_behind = false;
  for (const Json& part : single) {
    const JsonFields fields(part, processor.where() + " part", {"SpecialToken", "Sequence"});
    if (!fields.at("Sequence").is_null()) {
      is_behind = true;
      continue;
    }
    const JsonFields token(fields.at("SpecialToken"), processor.where() + " special token",
                           {"id", "type_id"});
    std::vector<std::int32_t>& side = is_behind ? around.behind : before;
    const std::vector<std::int32_t> ids = ids_of(processor, token.text("id"));
    side.insert(side.end(), ids.begin(), ids.end());
  }
  around.before.insert(around.before.begin(), before.begin(), before.end());
}

}  // namespace

Surroundings read_post_processor(const JsonFields& file) {
  const std::string where = "its post_processor";
  Surroundings around;
  for (const Json* part : flattened(file.at("post_processor"), "processors", where)) {
    const std::string type = type_of(*part, where);
    if (type == "TemplateProcessing")
      add_template(JsonFields(*part, where, {"type", "single", "pair", "special_tokens"}), around);
    else if (type != "ByteLevel" && type != "RobertaProcessing" && type != "BertProcessing")
      refuse_type(*part, where,
                  "TemplateProcessing, ByteLevel, RobertaProcessing and BertProcessing are");
  }
  return around;
}

Surroundings surroundings_of(
    const FolderSettings& settings, std::initializer_list<DefaultToken> defaults,
    const std::function<std::optional<std::int32_t>(const std::string&)>& id_of) {
  Surroundings around;
  auto add = [&](const char* asks, const char* role, std::vector<std::int32_t>& side) {
    const std::string text = settings.flag(asks, false) ? settings.token(role, defaults) : "";
    if (text.empty()) return;
    const std::optional<std::int32_t> id = id_of(text);
    if (!id)
      throw TokenizerProblem(
          fmt::format("the tokenizer_config.json beside it has true as '{}', and the vocabulary "
                      "has no token {}, its '{}'",
                      asks, shown(text), role));
    side.push_back(*id);
  };
  add("add_bos_token", "bos_token", around.before);
  add("add_eos_token", "eos_token", around.behind);
  return around;
}

}  // namespace sinter::detail
