// SPDX-License-Identifier: Apache-2.0
#include "comm/hosts/hello.hpp"

#include <unistd.h>

#include <fstream>

#include "comm/facts.hpp"
#include "files/system.hpp"

namespace sinter::detail::hosts {
namespace {

/// A text that is equal for ranks that can share memory, and for no others.
std::string place_of_this_process() {
  std::string place;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), place);
  for (const char* space : {"/proc/self/ns/net", "/proc/self/ns/pid"}) {
    char text[64] = "";
    if (readlink(space, text, sizeof text - 1) > 0) place += std::string(" ") + text;
  }
  return place + " " + std::to_string(geteuid());
}

}  // namespace

std::string Hello::packed() const {
  return Packer()
      .add(id)
      .add(rank)
      .add(ranks)
      .add(member.process)
      .add(member.host)
      .add(member.place)
      .add(member.port)
      .add(facts)
      .text();
}

std::optional<Hello> Hello::unpacked(const std::string& text) {
  Unpacker in(text);
  Hello hello{in.text(), in.number(), in.number()};
  hello.member.process = std::int32_t(in.number());
  hello.member.host = in.text();
  hello.member.place = in.text();
  hello.member.port = int(in.number());
  hello.facts = in.text();
  if (!in.ok()) return std::nullopt;
  return hello;
}

Hello hello_of(const World& world, int port) {
  const bool named = !world.host.empty();
  return {world.id, world.rank, world.ranks,
          Member{getpid(), named ? world.host : host_name(""),
                 named ? world.host : place_of_this_process(), "", port},
          bytes_of(world.facts)};
}

}  // namespace sinter::detail::hosts
