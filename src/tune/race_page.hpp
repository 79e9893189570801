// SPDX-License-Identifier: Apache-2.0
// A race as a page like that of `report`.
#pragma once
#include <string>

#include "tune/standing.hpp"

namespace sinter::detail::tune {

/// One HTML page: the front as a picture, the rows in their order, those that failed, and the lines of the
/// fastest recipe.
/// requires  a row has measured something
std::string race_page(const Standing& standing);

}  // namespace sinter::detail::tune
