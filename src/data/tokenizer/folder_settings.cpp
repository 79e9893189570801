// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/folder_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "data/tokenizer/json_fields.hpp"
#include "files/json.hpp"

namespace sinter::detail {
namespace {

using Json = nlohmann::json;

/// In the order in which transformers adds them.
constexpr std::array roles{"bos_token", "eos_token", "unk_token", "sep_token",
                           "pad_token", "cls_token", "mask_token"};

Json parsed(const std::string& text, const char* name) {
  if (text.empty()) return {};
  Json json;
  try {
    json = parse_large_json(text);
  } catch (const JsonError& error) {
    throw TokenizerProblem(fmt::format("the {} beside it is damaged, {}", name, error.what()));
  }
  if (!json.is_object()) throw TokenizerProblem(fmt::format("the {} beside it is no object", name));
  return json;
}

const Json& value_of(const Json& object, std::string_view key) {
  static const Json null;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() ? null : *found;
}

std::string text_at(const Json& object, std::string_view key) {
  const Json& value = value_of(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

std::int32_t stated_id(const std::string& text) {
  std::int32_t id = -1;
  const char* const end = text.data() + text.size();
  if (const auto [at, error] = std::from_chars(text.data(), end, id);
      error != std::errc() || at != end)
    throw TokenizerProblem(
        fmt::format("the tokenizer_config.json beside it has the key {} in 'added_tokens_decoder'; "
                    "an id is expected",
                    shown(text)));
  return id;
}

}  // namespace

/// The tokens of a folder, in the order in which transformers adds them.
class FolderSettings::Tokens {
  const FolderSettings& from;
  struct Named {
    Json value;
    bool stated;  // by a file
  };
  std::map<std::string, Named> named;  // by role
  std::map<std::string, Json> own_roles;
  std::vector<Json> extra;

 public:
  std::vector<Token> all;

  Tokens(const FolderSettings& f, std::span<const DefaultToken> defaults) : from(f) {
    for (const DefaultToken& token : defaults) named[token.role] = {token.text, false};
    read_roles(from.settings, "tokenizer_config.json");
    const Json& decoder = value_of(from.settings, "added_tokens_decoder");
    if (decoder.is_null()) {
      read_roles(from.special_map, "special_tokens_map.json");
      read_added_ids();
    } else {
      read_decoder(decoder);
    }
    for (const char* role : roles)
      if (const auto found = named.find(role); found != named.end())
        add(found->second.value, role, false);
    for (const auto& [role, value] : own_roles) add(value, role, true);
    for (const Json& token : extra) add(token, "additional_special_tokens", false);
  }

 private:
  void read_roles(const Json& object, const char* file) {
    if (!object.is_object()) return;
    for (const auto& [key, value] : object.items()) {
      const bool known = std::ranges::find(roles, key) != roles.end();
      if (known)
        named[key] = {value, true};
      else if (key.ends_with("_token") && (value.is_string() || value.is_object()))
        own_roles[key] = value;
      else if (key == "additional_special_tokens" || key == "extra_special_tokens")
        read_extra(value, key, file);
    }
  }
  void read_extra(const Json& list, const std::string& key, const char* file) {
    if (list.is_null()) return;
    if (list.is_object()) {
      for (const auto& [role, value] : list.items()) own_roles[role] = value;
    } else if (list.is_array()) {
      extra.insert(extra.end(), list.begin(), list.end());
    } else {
      throw TokenizerProblem(
          fmt::format("the {} beside it has no list of tokens as '{}'", file, key));
    }
  }
  void read_decoder(const Json& decoder) {
    if (!decoder.is_object()) from.refuse("added_tokens_decoder", "an object is understood");
    std::map<std::int32_t, Token> by_id;
    for (const auto& [id, entry] : decoder.items()) {
      Token token = read(entry, fmt::format("token {} of 'added_tokens_decoder'", id), false);
      token.added.id = stated_id(id);
      by_id[token.added.id] = std::move(token);
    }
    for (auto& [id, token] : by_id) all.push_back(std::move(token));
  }
  void read_added_ids() {
    if (from.added_ids.is_null()) return;
    std::map<std::int32_t, Token> by_id;
    for (const auto& [text, number] : from.added_ids.items()) {
      const auto id = integer_of<std::int32_t>(
          number, fmt::format("the id of {} in the added_tokens.json beside it", shown(text)));
      const bool special = is_named(text);
      by_id[id] = {{.id = id, .text = text, .normalized = !special}, special};
    }
    for (auto& [id, token] : by_id) all.push_back(std::move(token));
  }
  bool is_named(const std::string& text) const {
    const auto is = [&](const Json& value) {
      return value == text || text_at(value, "content") == text;
    };
    return std::ranges::any_of(extra, is) || std::ranges::any_of(named, [&](const auto& each) {
             return each.second.stated && is(each.second.value);
           });
  }
  /// A token as a text, or as an object with its properties.
  static Token read(const Json& value, const std::string& where, bool special) {
    if (value.is_string()) return {{.id = -1, .text = value.get<std::string>()}, true};
    const JsonFields fields(
        value, where,
        {"__type", "content", "single_word", "lstrip", "rstrip", "normalized", "special", "id"});
    special = fields.flag("special", special);
    return {{.id = -1,
             .text = fields.text("content"),
             .strips_left = fields.flag("lstrip", false),
             .strips_right = fields.flag("rstrip", false),
             .normalized = fields.flag("normalized", !special),
             .single_word = fields.flag("single_word", false)},
            special};
  }
  /// Adds a special token, unless it is there already.
  void add(const Json& value, const std::string& role, bool own_role) {
    if (value.is_null()) return;
    Token token = read(value, fmt::format("'{}' of the files beside it", role), true);
    token.special = true, token.own_role = own_role;
    if (token.added.text.empty()) return;
    const auto same = [&](const Token& other) { return other.added.text == token.added.text; };
    if (const auto found = std::ranges::find_if(all, same); found != all.end())
      found->special = true;
    else
      all.push_back(std::move(token));
  }
};

FolderSettings::FolderSettings(const FolderFiles& files)
    : settings(parsed(files.tokenizer_config, "tokenizer_config.json")),
      special_map(parsed(files.special_tokens_map, "special_tokens_map.json")),
      added_ids(parsed(files.added_tokens, "added_tokens.json")),
      model(Json::parse(files.config, nullptr, false)) {
  if (flag("split_special_tokens", false)) refuse("split_special_tokens", "false is understood");
}

FolderSettings::Stated FolderSettings::tokenizer_class() const {
  for (const auto& [json, file] :
       {std::pair(&settings, "tokenizer_config.json"), std::pair(&model, "config.json")}) {
    const std::string value = text_at(*json, "tokenizer_class");
    if (value.empty()) continue;
    return {value, value.ends_with("Fast") ? value.substr(0, value.size() - 4) : value, file};
  }
  return {};
}

std::string FolderSettings::model_type() const { return text_at(model, "model_type"); }

bool FolderSettings::has(const char* key) const { return !value_of(settings, key).is_null(); }

bool FolderSettings::flag(const char* key, bool otherwise) const {
  if (!has(key)) return otherwise;
  if (!settings[key].is_boolean()) refuse(key, "true and false are understood");
  return settings[key].get<bool>();
}

std::string FolderSettings::token(const char* role, std::span<const DefaultToken> defaults) const {
  std::string text;
  for (const DefaultToken& known : defaults)
    if (known.role == std::string_view(role)) text = known.text;
  const bool is_listed = !value_of(settings, "added_tokens_decoder").is_null();
  for (const Json* file : {&settings, is_listed ? nullptr : &special_map})
    if (file && file->is_object() && file->contains(role)) {
      const Json& value = (*file)[role];
      text = value.is_object() ? text_at(value, "content") : text_at(*file, role);
    }
  return text;
}

void FolderSettings::refuse(const char* key, std::string_view understood) const {
  throw TokenizerProblem(fmt::format(
      "the tokenizer_config.json beside it has {} as '{}'; {}",
      shown(settings[key].dump(-1, ' ', false, Json::error_handler_t::replace)), key, understood));
}

void FolderSettings::add_tokens(std::span<const DefaultToken> defaults, std::size_t entries,
                                Vocabulary& vocabulary, std::vector<AddedToken>& added,
                                std::vector<SpecialToken>& special) const {
  const std::size_t end = vocabulary.size();
  auto next = std::int32_t(entries);
  int of_own_roles = 0;
  for (Token& token : Tokens(*this, defaults).all) {
    const std::optional<std::int32_t> known = vocabulary.find(token.added.text);
    if (!known && entries < end)
      throw TokenizerProblem(
          fmt::format("its vocabulary has {} tokens with ids below {}, so that the number of the "
                      "added token {} is not known",
                      entries, end, shown(token.added.text)));
    if (!known && token.own_role && ++of_own_roles > 1)
      throw TokenizerProblem(
          "the files beside it name several new tokens by roles of their own, whose ids hang on "
          "the "
          "order in the file; list them as 'additional_special_tokens'");
    const std::int32_t id = known ? *known : next++;
    if (token.added.id >= 0 && token.added.id != id)
      throw TokenizerProblem(fmt::format(
          "the files beside it give the added token {} the id {}, and transformers gives it {}",
          shown(token.added.text), token.added.id, id));
    token.added.id = id;
    vocabulary.add(token.added.text, id);
    if (token.special) special.push_back({token.added.text, id});
    added.push_back(std::move(token.added));
  }
}

}  // namespace sinter::detail
