// SPDX-License-Identifier: Apache-2.0
#include "comm/hosts/store.hpp"

#include <thread>

#include "sinter/error.hpp"

namespace sinter::detail::hosts {
namespace {

/// Queries as they are counted in torch/csrc/distributed/c10d/TCPStoreBackend.hpp.
enum Query : char { validate = 0, set_value = 1, get_value = 3, check = 5 };
constexpr std::uint32_t store_magic = 0x3C85F7CE;

}  // namespace

Store::Store(const std::string& address, int port, Time until)
    : name(address + " port " + std::to_string(port)), end(until) {
  std::string why;
  while ((server = connect_with(address, port, until, why)).get() < 0) {
    if (Clock::now() > until)
      throw Error("torchrun's agent, at whose store the ranks find each other, does not " +
                  ("answer at " + name) + ": " + why + ".");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::string query(1, validate);
  query.append(reinterpret_cast<const char*>(&store_magic), sizeof store_magic);
  send(query);
}

void Store::set(const std::string& key, const std::string& value) {
  send(std::string(1, set_value) + Packer().add(key).add(value).text());
}

std::optional<std::string> Store::find(const std::string& key) {
  send(std::string(1, check) + Packer().add(1).add(key).text());
  std::uint8_t missing = 0;
  receive(&missing, sizeof missing);
  if (missing) return std::nullopt;
  send(std::string(1, get_value) + Packer().add(key).text());
  std::uint64_t size = 0;
  receive(&size, sizeof size);
  if (size > 4096) throw Error("what the store at " + name + " says is not Sinter's.");
  std::string value(size, '\0');
  receive(value.data(), size);
  return value;
}

void Store::send(const std::string& query) {
  if (!send_all(server, query.data(), query.size(), end))
    throw Error("the store of torchrun's agent at " + name + " has gone.");
}
void Store::receive(void* data, std::size_t size) {
  if (!receive_all(server, data, size, end))
    throw Error("the store of torchrun's agent at " + name + " says nothing, or has gone.");
}

}  // namespace sinter::detail::hosts
