// SPDX-License-Identifier: Apache-2.0
// The store that torchrun's agent keeps for its ranks.
#pragma once
#include <optional>

#include "comm/hosts/socket.hpp"

namespace sinter::detail::hosts {

/// A client of a c10d::TCPStore, with the part of its protocol that stores and finds a value. The
/// protocol is that of PyTorch 2.0 to 2.11; both of its servers use it.
class Store {
  Descriptor server;
  std::string name;  // for messages
  Time end;

 public:
  /// Connects to the store.
  /// throws    Error if there is no answer in time
  Store(const std::string& address, int port, Time until);

  /// throws    Error if the store has gone
  void set(const std::string& key, const std::string& value);
  /// None if it is not there yet.
  /// throws    Error if the store has gone
  std::optional<std::string> find(const std::string& key);

  const Descriptor& connection() const { return server; }

 private:
  void send(const std::string& query);
  void receive(void* data, std::size_t size);
};

}  // namespace sinter::detail::hosts
