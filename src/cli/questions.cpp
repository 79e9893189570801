// SPDX-License-Identifier: Apache-2.0
#include "cli/questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "files/json.hpp"
#include "sinter/data/labelled_word_set.hpp"

namespace sinter::detail::cli {
namespace {

constexpr std::size_t block_bytes = std::size_t(1) << 16, max_bytes = std::size_t(1) << 30;

/// Thrown for a line that is no question; what() is the reason.
struct BadQuestion : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class... Parts>
[[noreturn]] void refuse(fmt::format_string<Parts...> text, Parts&&... parts) {
  throw BadQuestion(fmt::format(text, std::forward<Parts>(parts)...));
}

std::string shown(const nlohmann::json& value) {
  using nlohmann::json;
  return printable(value.dump(-1, ' ', false, json::error_handler_t::replace), 40);
}

/// Returns the list under a key of a line.
const nlohmann::json& list_in(const nlohmann::json& line, const std::string& key) {
  if (!line.contains(key)) refuse("it has no key '{}'", key);
  if (!line[key].is_array()) refuse("'{}' is {}, and no list", key, shown(line[key]));
  return line[key];
}

/// Checks that a line is an object without other keys.
void check_keys(const nlohmann::json& line, std::initializer_list<std::string_view> keys) {
  if (!line.is_object()) refuse("it is {}, and no object", shown(line));
  for (const auto& [name, value] : line.items())
    if (std::ranges::find(keys, name) == keys.end())
      refuse("it has the key '{}', which is nothing to this model", printable(name, 60));
}

/// Checks that a line has 1 to `limit` rows. `one` names a row, and `context` the option that limits them.
void check_length(std::size_t rows, std::string_view one, int limit,
                  std::string_view context = "context") {
  if (rows == 0) refuse("it has no {}; the model needs at least one", one);
  if (rows > std::size_t(limit))
    refuse("it has {} {}s, and the recipe's {} is {}. Cut it, or build the recipe with a larger {}",
           rows, one, context, limit, context);
}

void check_id(bool good, std::string_view one, std::size_t at, const std::string& id, int below) {
  if (!good)
    refuse("{} {} is {}, and the model's {}s are whole numbers from 0 to {}", one, at + 1, id, one,
           below - 1);
}

/// Reads ids. `one` names an id in messages.
std::vector<std::int32_t> ids_in(const nlohmann::json& list, std::string_view one, int below) {
  std::vector<std::int32_t> ids;
  ids.reserve(list.size());
  for (const nlohmann::json& id : list) {
    const bool good = id.is_number_unsigned() && id.get<std::uint64_t>() < std::uint64_t(below);
    check_id(good, one, ids.size(), good ? "" : shown(id), below);
    ids.push_back(id.get<std::int32_t>());
  }
  return ids;
}

/// Returns the numbers of a list of rows, row-major.
std::vector<float> values_in(const nlohmann::json& list, const QuestionForm& form) {
  std::vector<float> values;
  values.reserve(list.size() * std::size_t(form.width));
  for (std::size_t r = 0; r < list.size(); ++r) {
    const nlohmann::json& row = list[r];
    if (!row.is_array() || row.size() != std::size_t(form.width))
      refuse("row {} is {}, and the model's rows are lists of {} numbers", r + 1,
             row.is_array() ? fmt::format("a list of {}", row.size()) : shown(row), form.width);
    for (const nlohmann::json& number : row) {
      constexpr double largest = std::numeric_limits<float>::max();
      if (!number.is_number() || !(std::abs(number.get<double>()) <= largest))
        refuse("row {} has {}, which is no number that a float can hold", r + 1, shown(number));
      values.push_back(number.get<float>());
    }
  }
  return values;
}

}  // namespace

std::string fault_of_line(const JsonError& error) {
  constexpr std::string_view place = "parse error at line 1, column ";
  const std::string_view text = error.what();
  const std::size_t at = text.find(place);
  if (at == text.npos) return std::string(text);
  return fmt::format("it is no JSON, at column {}", text.substr(at + place.size()));
}

bool LinesOfFile::read_more() {
  buffer_.erase(0, passed_);
  passed_ = 0;
  const std::size_t have = buffer_.size();
  buffer_.resize(have + block_bytes);
  const std::size_t got = input_.read(buffer_.data() + have, block_bytes);
  buffer_.resize(have + got);
  return got > 0;
}

std::optional<std::string_view> LinesOfFile::next() {
  std::size_t looked = 0;  // bytes after `passed_` without an end of line
  std::size_t end = buffer_.find('\n', passed_);
  while (end == buffer_.npos) {
    looked = buffer_.size() - passed_;
    if (looked > max_bytes)
      throw FileError(fmt::format("{}, line {}: it has more than {} bytes. Make several of it.",
                                  name(), number_ + 1, max_bytes));
    if (!read_more()) break;
    end = buffer_.find('\n', passed_ + looked);
  }
  if (end == buffer_.npos) end = buffer_.size();
  if (end == passed_ && end == buffer_.size()) return std::nullopt;
  std::string_view line(buffer_.data() + passed_, end - passed_);
  passed_ = std::min(end + 1, buffer_.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++number_;
  return line;
}

Questions::Questions(const std::string& path, QuestionForm form, Encode encode)
    : lines_(path), form_(form), encode_(std::move(encode)) {}

std::string Questions::place(std::int64_t line) const {
  return fmt::format("{}, line {}", path(), line);
}

void Questions::add_ids(const std::vector<std::int32_t>& ids, std::vector<std::int32_t> types,
                        HostBatch& batch) const {
  check_length(ids.size(), encode_ ? "token" : "id", form_.context);
  batch.ids.resize(form_.types_below ? 2 : 1);
  batch.ids[0].insert(batch.ids[0].end(), ids.begin(), ids.end());
  if (form_.types_below) {
    types.resize(ids.size());
    batch.ids[1].insert(batch.ids[1].end(), types.begin(), types.end());
  }
  batch.starts.push_back(batch.starts.back() + std::int32_t(ids.size()));
}

void Questions::add_pair(const std::vector<std::int32_t>& ids,
                         const std::vector<std::int32_t>& decoder_ids, HostBatch& batch) const {
  check_length(ids.size(), encode_ ? "token" : "id", form_.context, "second_context");
  check_length(decoder_ids.size(), encode_ ? "decoder token" : "decoder id", form_.decoder_context);
  batch.ids.resize(2);
  batch.ids[0].insert(batch.ids[0].end(), ids.begin(), ids.end());
  batch.ids[1].insert(batch.ids[1].end(), decoder_ids.begin(), decoder_ids.end());
  batch.starts.push_back(batch.starts.back() + std::int32_t(decoder_ids.size()));
  if (batch.second_starts.empty()) batch.second_starts.push_back(0);
  batch.second_starts.push_back(batch.second_starts.back() + std::int32_t(ids.size()));
}

void Questions::add_text(const std::string& text, HostBatch& batch) {
  Prompt prompt = encode_(text);
  words_.clear();
  const std::vector<std::string_view> texts = words_in(text);
  for (std::size_t w = 0; w < prompt.words.size(); ++w)
    words_.push_back({std::string(texts[w]), prompt.words[w]});
  auto check = [](const std::vector<std::int32_t>& ids, std::string_view one, int below) {
    for (std::size_t k = 0; k < ids.size(); ++k)
      check_id(ids[k] >= 0 && ids[k] < below, one, k, std::to_string(ids[k]), below);
  };
  check(prompt.tokens, "id", form_.ids_below);
  if (form_.types_below) check(prompt.types, "token type", form_.types_below);
  if (!prompt.types.empty() && prompt.types.size() != prompt.tokens.size())
    refuse("it has {} ids and {} token types", prompt.tokens.size(), prompt.types.size());
  if (form_.decoder_ids_below) {
    if (prompt.decoder.empty())
      refuse("the data policy's prompt does not say what the decoder begins with");
    check(prompt.decoder, "decoder id", form_.decoder_ids_below);
    add_pair(prompt.tokens, prompt.decoder, batch);
    cut_ += prompt.cut;
    return;
  }
  if (!prompt.decoder.empty())
    refuse("the data policy's prompt has tokens for a decoder, and the model has no encoder");
  add_ids(prompt.tokens, std::move(prompt.types), batch);
  cut_ += prompt.cut;
}

void Questions::add_line_of_ids(const nlohmann::json& line, HostBatch& batch) const {
  if (form_.decoder_ids_below) {
    check_keys(line, {"ids", "decoder_ids"});
  } else if (form_.types_below) {
    check_keys(line, {"ids", "token_types"});
  } else {
    check_keys(line, {"ids"});
  }
  const std::vector<std::int32_t> ids = ids_in(list_in(line, "ids"), "id", form_.ids_below);
  if (form_.decoder_ids_below)
    return add_pair(
        ids, ids_in(list_in(line, "decoder_ids"), "decoder id", form_.decoder_ids_below), batch);
  std::vector<std::int32_t> types;
  if (line.contains("token_types")) {
    types = ids_in(list_in(line, "token_types"), "token type", form_.types_below);
    if (types.size() != ids.size())
      refuse("it has {} ids and {} token types", ids.size(), types.size());
  }
  add_ids(ids, std::move(types), batch);
}

void Questions::add_line_of_values(const nlohmann::json& line, HostBatch& batch) const {
  check_keys(line, {"values"});
  const nlohmann::json& list = list_in(line, "values");
  const bool apart = form_.context == 1;
  check_length(apart ? std::min<std::size_t>(list.size(), 1) : list.size(), "row", form_.context);
  const std::vector<float> values = values_in(list, form_);
  batch.values.resize(1);
  batch.values[0].insert(batch.values[0].end(), values.begin(), values.end());
  const auto rows = std::int32_t(list.size());
  for (std::int32_t r = 0; r < (apart ? rows : 1); ++r)
    batch.starts.push_back(batch.starts.back() + (apart ? 1 : rows));
}

std::string Questions::expected() const {
  if (form_.width > 0)
    return fmt::format(R"(Each line must be {{"values": [[...], ...]}}, with rows of {} numbers.)",
                       form_.width);
  if (form_.decoder_ids_below)
    return R"(Each line must be {"ids": [464, 257], "decoder_ids": [2, 464]}.)";
  if (form_.types_below) return R"(Each line must be {"ids": [464, 257], "token_types": [0, 1]}.)";
  return R"(Each line must be {"ids": [464, 257]}, as tokenize --json prints it.)";
}

bool Questions::is_blank(std::string_view line) const {
  return line.find_first_not_of(encode_ ? " " : " \t") == line.npos;
}

std::int64_t Questions::next(HostBatch& batch) {
  std::optional<std::string_view> line = lines_.next();
  while (line && is_blank(*line)) line = lines_.next();
  if (!line) return 0;
  try {
    if (encode_) {
      add_text(std::string(*line), batch);
    } else if (form_.width == 0) {
      add_line_of_ids(parse_large_json(*line), batch);
    } else {
      add_line_of_values(parse_large_json(*line), batch);
    }
  } catch (const BadQuestion& bad) {
    throw FileError(fmt::format("{}: {}.{}", place(lines_.number()), bad.what(),
                                encode_ ? "" : " " + expected()));
  } catch (const JsonError& error) {
    throw FileError(
        fmt::format("{}: {}. {}", place(lines_.number()), fault_of_line(error), expected()));
  } catch (const Error& error) {
    throw FileError(fmt::format("{}: {}", place(lines_.number()), error.what()));
  }
  return lines_.number();
}

}  // namespace sinter::detail::cli
