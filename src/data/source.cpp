// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "sinter/error.hpp"
#include "sinter/files/io.hpp"

namespace sinter {
using namespace detail;
namespace {

/// Calls visit(name, number, base) for each number of the state.
template <class State, class Visit>
void each_number(State& state, Visit visit) {  // but `end`, which few states have
  visit("seed", state.seed, 10);
  visit("epoch", state.epoch, 10);
  visit("position", state.position, 10);
  visit("items", state.items, 10);
  visit("context", state.context, 10);
  visit("data_size", state.data_size, 10);
  visit("data_hash", state.data_hash, 16);
}

bool parse(const std::string& text, int base, std::uint64_t& number) {
  const char* end = text.data() + text.size();
  auto [stopped, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc{} && stopped == end;
}

}  // namespace

std::map<std::string, std::string> SamplerState::to_fields() const {
  std::map<std::string, std::string> fields{{"order", order}};
  each_number(*this, [&](const char* name, std::uint64_t number, int base) {
    fields[name] = base == 16 ? fmt::format("{:016x}", number) : fmt::format("{}", number);
  });
  if (end > 0) fields["end"] = std::to_string(end);
  return fields;
}

SamplerState SamplerState::from_fields(const std::map<std::string, std::string>& fields) {
  SamplerState state;
  std::string faults;
  auto fault = [&](const std::string& text) { faults += (faults.empty() ? "" : "; ") + text; };
  std::map<std::string, std::string> rest = fields;
  auto take = [&](const char* name, auto use) {
    auto found = rest.find(name);
    if (found == rest.end()) return fault(fmt::format("'{}' is missing", name));
    use(found->second);
    rest.erase(found);
  };
  take("order", [&](const std::string& text) { state.order = text; });
  rest.try_emplace("items", "0");
  rest.try_emplace("end", "0");
  const auto take_number = [&](const char* name, std::uint64_t& number, int base) {
    take(name, [&](const std::string& text) {
      if (!parse(text, base, number))
        fault(fmt::format("'{}' is '{}', not a whole number of 64 bits in base {}", name,
                          printable(text), base));
    });
  };
  each_number(state, take_number);
  take_number("end", state.end, 10);
  for (const auto& [name, text] : rest) fault(fmt::format("'{}' is not a field", printable(name)));
  if (!faults.empty())
    throw ArgumentError("The sampler's state is not readable: " + faults +
                        ". It must be exactly as it was saved.");
  return state;
}

void require_same_data(const SamplerState& saved, const SamplerState& own) {
  auto refuse = [](const std::string& what, const auto& then, const auto& now) {
    throw ArgumentError(fmt::format(
        "The saved position in the data does not fit these data: {} was {} and is {}. Resume with "
        "the same data and options as before, or start a new run from the saved weights.",
        what, then, now));
  };
  if (saved.order != own.order) refuse("the order", printable(saved.order), own.order);
  if (saved.context != own.context) refuse("the context", saved.context, own.context);
  if (saved.data_size != own.data_size) refuse("their size", saved.data_size, own.data_size);
  if (saved.data_hash != own.data_hash)
    refuse("the hash of their content", fmt::format("{:016x}", saved.data_hash),
           fmt::format("{:016x}", own.data_hash));
}

void require_position(const SamplerState& saved, std::int64_t last, std::string_view item,
                      std::string_view data) {
  if (saved.position > std::uint64_t(last))
    throw ArgumentError(
        fmt::format("The saved position in the data, {} {}, is impossible: it can be at most {} in "
                    "{}. The sampler's state is damaged; resume from another checkpoint.",
                    item, saved.position, last, data));
}

int items_before_the_end(const SamplerState& state, int items) {
  if (state.end == 0) return items;
  const std::uint64_t left = state.end - std::min(state.items, state.end);
  return int(std::min<std::uint64_t>(std::uint64_t(items), left));
}

}  // namespace sinter
