// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sinter::detail::testing {

/// A port of this host at which nobody listens at the moment.
inline int free_port() {
  const int made = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  REQUIRE(::bind(made, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::getsockname(made, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  ::close(made);
  return ntohs(address.sin_port);
}

}  // namespace sinter::detail::testing
