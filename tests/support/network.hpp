// SPDX-License-Identifier: Apache-2.0
// Hosts that are network namespaces of this machine, at one switch.
#pragma once
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "support/rank_processes.hpp"

namespace sinter::detail::testing {

/// Hosts with the addresses 10.77.0.1 and so on, each with a network of its own, and a cable to a switch.
class Network {
  const std::string prefix = "sinter" + std::to_string(::getpid()) + "-";
  const int hosts;
  bool made = false;

 public:
  explicit Network(int count) : hosts(count) {
    if (::geteuid() != 0 || !runs("ip netns add " + prefix + "switch")) return;
    made = runs("ip -n " + prefix + "switch link add bridge type bridge") &&
           runs("ip -n " + prefix + "switch link set bridge up");
    for (int h = 0; made && h < hosts; ++h) {
      const std::string number = std::to_string(h), plug = " plug" + number;
      made = runs("ip netns add " + space(h)) &&
             runs("ip -n " + space(h) + " link add net type veth peer name" + plug + " netns " +
                  prefix + "switch") &&
             runs("ip -n " + space(h) + " address add " + address(h) + "/24 dev net") &&
             runs("ip -n " + space(h) + " link set net up") &&
             runs("ip -n " + space(h) + " link set lo up") &&
             runs("ip -n " + prefix + "switch link set" + plug + " master bridge up");
    }
  }
  ~Network() {
    for (int h = 0; h < hosts; ++h) runs("ip netns del " + space(h));
    runs("ip netns del " + prefix + "switch");
  }
  Network(const Network&) = delete;

  /// Whether this machine lets this user make one. If not, it says so.
  bool is_there() const {
    if (!made) MESSAGE("skipped: ip netns does not work here (it needs root and iproute2)");
    return made;
  }
  std::string address(int host) const { return "10.77.0." + std::to_string(host + 1); }
  /// Moves this process to a host, for good.
  void enter(int host) const {
    const int made_space = ::open(("/run/netns/" + space(host)).c_str(), O_RDONLY | O_CLOEXEC);
    if (made_space < 0 || ::setns(made_space, CLONE_NEWNET) != 0) ::_exit(1);
    ::close(made_space);
  }
  /// Pulls the plug of a host.
  void cut(int host) const { set_plug(host, "down"); }
  /// Puts it in again.
  void join(int host) const { set_plug(host, "up"); }
  /// Lets nothing pass between two hosts, while both reach the others: each takes another for it.
  void cut_between(int a, int b) const {
    for (const auto& [host, other] : {std::pair{a, b}, {b, a}})
      REQUIRE(runs("ip -n " + space(host) + " neighbour replace " + address(other) +
                   " lladdr 02:00:00:00:00:01 dev net nud permanent"));
  }
  /// Bytes that a host has sent, with all that is around them.
  long long sent_by(int host) const {
    return number_on(host, "cat /sys/class/net/net/statistics/tx_bytes");
  }
  /// Of these, an upper bound of those that TCP has sent again: it counts full packets of 1,514 bytes.
  long long sent_again_by(int host) const {
    // RetransSegs, of the second line that begins with Tcp (RFC 4022, tcpRetransSegs).
    return 1514 * number_on(host, R"(awk '/^Tcp: [0-9]/ { print $13 }' /proc/net/snmp)");
  }

 private:
  void set_plug(int host, const char* state) const {
    REQUIRE(runs("ip -n " + prefix + "switch link set plug" + std::to_string(host) + " " + state));
  }
  std::string space(int host) const { return prefix + std::to_string(host); }
  long long number_on(int host, const std::string& command) const {
    FILE* const out = ::popen(("ip netns exec " + space(host) + " " + command).c_str(), "r");
    REQUIRE(out);
    long long number = -1;
    CHECK(std::fscanf(out, "%lld", &number) == 1);
    ::pclose(out);
    return number;
  }
  static bool runs(const std::string& command) {
    return std::system((command + " > /dev/null 2>&1").c_str()) == 0;
  }
};

/// So many ranks of each host of a network, which know only where rank 0 is.
inline std::vector<World> worlds_of(const Network& network, const std::vector<int>& ranks) {
  std::vector<World> worlds = RankProcesses::worlds_of_hosts(ranks);
  for (World& world : worlds) {
    world.host.clear();
    world.meeting = {network.address(0), 29500};
  }
  return worlds;
}

}  // namespace sinter::detail::testing
