// SPDX-License-Identifier: Apache-2.0
#include "sinter/version.hpp"

namespace sinter {

std::string_view version() { return SINTER_VERSION; }

}  // namespace sinter
