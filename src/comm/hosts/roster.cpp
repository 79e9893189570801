// SPDX-License-Identifier: Apache-2.0
#include "comm/hosts/roster.hpp"

#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <thread>

#include "comm/facts.hpp"
#include "comm/guests.hpp"
#include "comm/hosts/hello.hpp"
#include "comm/hosts/store.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::hosts {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds short_wait{50}, patience_with_one{2000};
constexpr char stranger[] = "another run";

std::string random_text() {
  std::uint64_t number[2];
  if (getrandom(number, sizeof number, 0) != sizeof number)
    throw Error("the system gives no random numbers for a world of ranks.");
  char text[40];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(number[0]),
                static_cast<unsigned long long>(number[1]));
  return text;
}

void find_hosts(Roster& roster) {
  const auto& all = roster.members;
  for (std::size_t r = 0; r < all.size(); ++r)
    if (r == 0 || all[r].place != all[r - 1].place) roster.begins.push_back(int(r));
  roster.begins.push_back(int(all.size()));
}

std::string packed(const Roster& roster) {
  Packer out;
  out.add(roster.nonce);
  for (const Member& m : roster.members)
    out.add(m.process).add(m.host).add(m.place).add(m.address).add(m.port);
  return out.text();
}

/// Rank 0, to which the others come.
class Host {
  const World& world;
  const Time end;
  Roster roster{};
  std::vector<std::vector<Fact>> facts;
  std::optional<Store> store{};
  Descriptor listener{};

 public:
  Host(const World& w, Descriptor door) : world(w), end(Clock::now() + w.timeout) {
    roster.members.resize(std::size_t(w.ranks));
    roster.ends.resize(std::size_t(w.ranks));
    facts.resize(std::size_t(w.ranks));
    roster.nonce = random_text();
    roster.listener = listen_at(0);
    roster.members[0] = hello_of(w, port_of(roster.listener)).member;
    facts[0] = w.facts;
    if (!w.meeting.has_store) {
      listener = door.get() >= 0 ? std::move(door) : listen_at(w.meeting.port);
      return;
    }
    listener = listen_at(0);
    store.emplace(w.meeting.address, w.meeting.port, end);
    const std::string here = address_here(store->connection());
    store->set(
        "sinter/" + w.id,
        Packer().add(is_loopback(here) ? "" : here).add(std::int64_t(port_of(listener))).text());
  }

  Roster meet() {
    await_guests(*this);
    compare_facts();
    find_hosts(roster);
    const std::string all = packed(roster);
    for (std::size_t r = 1; r < roster.ends.size(); ++r) answer(roster.ends[r], "", all);
    return std::move(roster);
  }

 private:
  bool has_come(std::size_t rank) const { return roster.ends[rank].get() >= 0; }
  template <class Host>
  friend void detail::await_guests(Host&);

  int ranks() const { return world.ranks; }
  int socket(int rank) const { return roster.ends[std::size_t(rank)].get(); }
  std::string name(int rank) const { return roster.name(rank); }
  std::string late(const std::string& who) const {
    return who + " to rank 0 on " + roster.members[0].host + ", port " +
           std::to_string(port_of(listener)) + ", within " + shared_memory::seconds(world.timeout) +
           ". Start a process for each rank, and let the hosts reach each other.";
  }

  /// Lets in who has come, if it says what ranks say.
  void admit() {
    Descriptor socket = accept_from(listener);
    if (socket.get() < 0) return;
    const Time soon = Clock::now() + patience_with_one;
    std::uint64_t word = 0;
    std::string text;
    if (!receive_all(socket, &word, sizeof word, soon)) return;
    if ((word ^ magic) << 8 != 0) return;  // the last byte is the version
    if (!receive_text(socket, text, soon)) return;
    std::optional<Hello> hello = Hello::unpacked(text);
    if (hello && hello->id != world.id) return answer(socket, stranger, "");
    std::optional<std::vector<Fact>> said;
    if (hello) said = facts_of(hello->facts);
    if (!said || word != magic) {
      const std::string problem = "the process at " + address_there(socket) +
                                  " is of another version of Sinter than rank 0. Start all ranks "
                                  "from the same build.";
      answer(socket, problem, "");
      refuse(problem);
    }
    const std::string problem = problem_of(*hello);
    if (!problem.empty()) {
      answer(socket, problem, "");
      refuse(problem);
    }
    const auto rank = std::size_t(hello->rank);
    const std::string address = address_there(socket);
    hello->member.address = is_loopback(address) ? "" : address;
    roster.members[rank] = hello->member;
    facts[rank] = std::move(*said);
    roster.ends[rank] = std::move(socket);
  }
  std::string problem_of(const Hello& hello) const {
    const std::string who = "rank " + std::to_string(hello.rank) + " (process " +
                            std::to_string(hello.member.process) + " on " + hello.member.host + ")";
    if (hello.ranks != world.ranks)
      return who + " says that there are " + std::to_string(hello.ranks) +
             " ranks, and rank 0 that there are " + std::to_string(world.ranks) +
             ". Give all ranks the same number.";
    if (hello.rank < 0 || hello.rank >= world.ranks)
      return who + " is none of " + std::to_string(world.ranks) +
             " ranks, which are counted from 0.";
    if (hello.rank == 0 || has_come(std::size_t(hello.rank)))
      return "rank " + std::to_string(hello.rank) + " has come twice: as " +
             roster.name(int(hello.rank)) + " and as " + who + ". Give each rank its own number.";
    return "";
  }
  /// Refuses all ranks if their facts differ. (Only after all have come, so that each gets the
  /// message.)
  void compare_facts() const {
    std::vector<Witness> all;
    for (int r = 0; r < world.ranks; ++r) all.push_back({r, roster.name(r), facts[std::size_t(r)]});
    const std::string problem = difference(all);
    if (!problem.empty()) refuse(problem);
  }

  static void answer(const Descriptor& to, const std::string& problem, const std::string& all) {
    // Who has gone is noticed elsewhere.
    (void)send_text(to, Packer().add(problem).add(all).text(), Clock::now() + patience_with_one);
  }
  /// Says to all that have come, and to the caller, why they cannot begin.
  [[noreturn]] void refuse(const std::string& problem) const {
    for (const Descriptor& guest : roster.ends)
      if (guest.get() >= 0) answer(guest, problem, "");
    throw Error(problem);
  }
};

/// A rank that is not the first, and goes to it.
class Guest {
  const World& world;
  const Time end;
  std::optional<Store> store{};
  std::string place{}, why{};  // where rank 0 was looked for, and why it was not found

 public:
  explicit Guest(const World& w) : world(w), end(Clock::now() + w.timeout) {}

  Roster meet() {
    Roster roster;
    roster.listener = listen_at(0);
    const Hello hello = hello_of(world, port_of(roster.listener));
    Descriptor host;
    std::string text;
    // Another run may be at the address of rank 0, still or already.
    for (std::string problem = stranger; problem == stranger;) {
      host = find_host();
      const std::string said = hello.packed();
      (void)send_all(host, &magic, sizeof magic, end);
      (void)send_text(host, said, end);
      if (!receive_text(host, text, end + std::chrono::seconds(5)))
        throw Error("rank 0, at " + place +
                    ", has ended before all ranks had come, or says nothing. Its own error says "
                    "why, if it could.");
      problem = Unpacker(text).text();
      if (problem == stranger) {
        why = "another run is there";
        wait_a_little();
      } else if (!problem.empty()) {
        throw Error(problem);
      }
    }
    take(roster, text);
    roster.ends.push_back(std::move(host));
    return roster;
  }

 private:
  void take(Roster& roster, const std::string& answer) const {
    Unpacker in(answer);
    in.text();  // no problem
    const std::string all = in.text();
    Unpacker members(all);
    roster.nonce = members.text();
    for (int r = 0; r < world.ranks; ++r)
      roster.members.push_back({std::int32_t(members.number()), members.text(), members.text(),
                                members.text(), int(members.number())});
    if (!in.ok() || !members.ok())
      throw Error("what rank 0 at " + place +
                  " says is not of this version. Start all ranks from the same build.");
    find_hosts(roster);
  }
  Descriptor find_host() {
    for (;;) {
      std::string address = world.meeting.address;
      int port = world.meeting.port;
      if (!world.meeting.has_store || ask_store(address, port)) {
        place = address + " port " + std::to_string(port);
        Descriptor made = connect_with(address, port, end, why);
        if (made.get() >= 0) return made;
      }
      wait_a_little();
    }
  }
  /// Returns false if rank 0 has not published its address yet.
  bool ask_store(std::string& address, int& port) {
    if (!store) store.emplace(address, port, end);
    place = "where the store at " + address + " port " + std::to_string(port) + " says";
    why = "it has not said so yet";
    const std::optional<std::string> value = store->find("sinter/" + world.id);
    if (!value) return false;
    Unpacker in(*value);
    address = in.text();
    port = int(in.number());
    if (address.empty()) address = address_there(store->connection());
    return in.ok();
  }
  void wait_a_little() {
    if (Clock::now() > end)
      throw Error("rank 0, for which rank " + std::to_string(world.rank) + " has waited " +
                  shared_memory::seconds(world.timeout) + " at " + place + ", has not come: " +
                  why + ". Start a process for each rank, and let the hosts reach each other.");
    std::this_thread::sleep_for(short_wait);
  }
};

}  // namespace

std::string Roster::name(int rank) const {
  const Member& member = members[std::size_t(rank)];
  return "rank " + std::to_string(rank) + " (process " + std::to_string(member.process) + " on " +
         member.host + ")";
}
int Roster::host_of(int rank) const {
  return int(std::ranges::upper_bound(begins, rank) - begins.begin()) - 1;
}
std::string Roster::address_of(int rank) const {
  const std::string& address = members[std::size_t(rank)].address;
  if (!address.empty()) return address;
  return ends.front().get() < 0 ? "localhost" : address_there(ends.front());
}

Roster meet(const World& world, Descriptor door) {
  if (world.rank == 0) return Host(world, std::move(door)).meet();
  return Guest(world).meet();
}

}  // namespace sinter::detail::hosts
