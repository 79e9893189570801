// SPDX-License-Identifier: Apache-2.0
#include "data/examples/example_formats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sinter/files/io.hpp"

namespace sinter::detail {

std::int32_t LabelledFields::class_named(std::string_view text) const {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) throw refusal(text);
  return std::int32_t(found - names.begin());
}

std::string LabelledFields::expected() const {
  if (kind == LabelKind::numbers)
    return classes == 1 ? "a number" : fmt::format("{} numbers", classes);
  if (kind == LabelKind::several_classes && names.empty() && classes == 1)
    return "a list of one answer: true or false, 1.0 or 0.0";
  if (kind == LabelKind::several_classes)
    return fmt::format("a list of its classes, each {}; or of {} times true or false, 1.0 or 0.0",
                       names.empty() ? fmt::format("a whole number from 0 to {}", classes - 1)
                                     : fmt::format("one of {}", fmt::join(names, ", ")),
                       classes);
  if (!names.empty()) return fmt::format("one of the classes {}", fmt::join(names, ", "));
  return fmt::format("a whole number from 0 to {}", classes - 1);
}

BadRecord LabelledFields::refusal(std::string_view shown) const {
  const bool is_word = kind != LabelKind::numbers && names.empty() &&
                       shown.find_first_not_of(" +-.0123456789") != shown.npos;
  return BadRecord(fmt::format(
      "its label \"{}\" is {}, and not {}{}", label, shown.empty() ? "empty" : printable(shown, 40),
      expected(),
      is_word
          ? fmt::format(". If labels are words, name them in their order behind the options of {}, "
                        "as in \"negative, positive\"",
                        kind == LabelKind::class_of_token ? "LabelledWords" : "LabelledText")
          : ""));
}

}  // namespace sinter::detail
