// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/json_fields.hpp"

#include <algorithm>

#include "files/json.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& value) {
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace), 200);
}

}  // namespace

JsonFields::JsonFields(const Json& value, std::string name_,
                       std::initializer_list<std::string_view> known)
    : object(&value), name(std::move(name_)) {
  if (!value.is_object()) throw TokenizerProblem(fmt::format("{} is no object", name));
  for (const auto& [key, ignored] : value.items())
    if (std::ranges::find(known, key) == known.end())
      throw TokenizerProblem(
          fmt::format("{} has the key {}, which is not understood", name, shown(key)));
}

const Json& JsonFields::at(const char* key) const {
  static const Json null;
  auto found = object->find(key);
  return found == object->end() ? null : *found;
}

bool JsonFields::flag(const char* key, bool otherwise) const {
  const Json& value = at(key);
  if (value.is_null()) return otherwise;
  if (!value.is_boolean()) refuse(key, "true and false are");
  return value.get<bool>();
}

std::string JsonFields::text(const char* key) const {
  const Json& value = at(key);
  if (!value.is_string()) refuse(key, "a text is");
  return value.get<std::string>();
}

std::int32_t JsonFields::integer(const char* key) const {
  return integer_of<std::int32_t>(at(key), fmt::format("'{}' of {}", key, name));
}

void JsonFields::refuse(const char* key, std::string_view understood) const {
  throw TokenizerProblem(fmt::format("{} has {} as '{}', which is not understood; {}", name,
                                     text_of(at(key)), key, understood));
}

std::string type_of(const Json& component, std::string_view where) {
  if (component.is_object())
    if (auto type = component.find("type"); type != component.end() && type->is_string())
      return type->get<std::string>();
  throw TokenizerProblem(fmt::format("{} has no 'type'", where));
}

void refuse_type(const Json& component, const std::string& where, std::string_view understood) {
  throw TokenizerProblem(
      fmt::format("{} has a component of the type {}, which is not understood there; {}", where,
                  shown(type_of(component, where)), understood));
}

std::vector<const Json*> flattened(const Json& component, const char* list,
                                   const std::string& where) {
  if (component.is_null()) return {};
  if (type_of(component, where) != "Sequence") return {&component};
  const JsonFields fields(component, where, {"type", list});
  if (!fields.at(list).is_array()) fields.refuse(list, "a list is");
  std::vector<const Json*> all;
  for (const Json& part : fields.at(list)) {
    const std::vector<const Json*> below = flattened(part, list, where);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

}  // namespace sinter::detail
