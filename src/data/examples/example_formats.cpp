// SPDX-License-Identifier: Apache-2.0
#include "data/examples/example_formats.hpp"

#include <fmt/format.h>

#include "sinter/files/io.hpp"

namespace sinter::detail {

std::string LabelledFields::expected() const {
  return fmt::format("a whole number from 0 to {}", classes - 1);
}

BadRecord LabelledFields::refusal(std::string_view shown) const {
  return BadRecord(fmt::format("its label \"{}\" is {}, and not {}", label,
                               shown.empty() ? "empty" : printable(shown, 40), expected()));
}

}  // namespace sinter::detail
