// SPDX-License-Identifier: Apache-2.0
// The first message of a rank to rank 0.
#pragma once
#include <optional>

#include "comm/hosts/roster.hpp"

namespace sinter::detail::hosts {

/// Goes before it. The last byte is the version.
constexpr std::uint64_t magic = 0x32'74'73'6f'68'6e'69'73;  // "sinhost2"

struct Hello {
  std::string id;  ///< of the world
  std::int64_t rank = 0, ranks = 0;
  Member member{};  ///< without its address, which rank 0 sees
  std::string facts{};

  std::string packed() const;
  /// None if the text is no such thing.
  static std::optional<Hello> unpacked(const std::string& text);
};

/// That of this process, which listens at a port.
Hello hello_of(const World& world, int port);

}  // namespace sinter::detail::hosts
