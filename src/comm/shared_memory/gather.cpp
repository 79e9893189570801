// SPDX-License-Identifier: Apache-2.0
#include "comm/shared_memory/gather.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "comm/guests.hpp"
#include "comm/shared_memory/facts.hpp"
#include "comm/shared_memory/messages.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::shared_memory {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// The first message of a rank. With it comes the memory of its facts.
struct Hello {
  char magic[8] = {'s', 'i', 'n', 't', 'e', 'r', ' ', 'h'};
  std::uint32_t version = layout_version;
  std::int32_t rank = 0, ranks = 0;
};
/// The answer of rank 0: a refusal, or an empty text with the memory's descriptor.
struct Answer {
  char problem[8000] = "";
};

void send_answer(const Descriptor& to, const std::string& problem, int memory) {
  Answer answer;
  problem.copy(answer.problem, sizeof answer.problem - 1);
  send_message(to, &answer, sizeof answer, memory);
}

/// Receives the memory from rank 0.
/// throws    Error if rank 0 reports a problem, or is gone
Descriptor receive_memory(const Descriptor& from, const std::string& rank_0) {
  Answer answer;
  Descriptor memory;
  if (!receive_message(from, &answer, sizeof answer, memory))
    throw Error(rank_0 +
                " has ended before all ranks had come. Its own error says why, if it could.");
  answer.problem[sizeof answer.problem - 1] = 0;
  if (answer.problem[0]) throw Error(answer.problem);
  return memory;
}

/// Rank 0, to which the others come.
class Host {
  struct Guest {
    Descriptor socket;
    std::int32_t process = 0;
    std::vector<Fact> facts{};
  };
  const World& world;
  const Clock::time_point end;
  Descriptor listener;
  std::vector<Guest> guests;  // by rank; that of rank 0 is not used

 public:
  Host(const World& w)
      : world(w),
        end(Clock::now() + w.timeout),
        listener(new_socket()),
        guests(std::size_t(w.ranks)) {
    const Address address(world.id);
    if (bind(listener.get(), address.get(), address.bytes()) != 0) {
      if (errno != EADDRINUSE) throw_system_error("no address");
      throw Error("there is a rank 0 of the world \"" + world.id +
                  "\" already. Give each rank its own number, and each run a new id.");
    }
    if (listen(listener.get(), world.ranks) != 0) throw_system_error("no listening");
  }

  std::unique_ptr<Segment> gather(const Layout& layout) {
    await_guests(*this);
    compare_facts();
    auto segment = std::make_unique<Segment>(layout);
    segment->state(0).process = getpid();
    for (std::size_t r = 1; r < guests.size(); ++r)
      segment->state(int(r)).process = guests[r].process;
    for (std::size_t r = 1; r < guests.size(); ++r)
      send_answer(guests[r].socket, "", segment->descriptor());
    return segment;
  }

 private:
  template <class Host>
  friend void detail::await_guests(Host&);

  int ranks() const { return world.ranks; }
  int socket(int rank) const { return guests[std::size_t(rank)].socket.get(); }
  std::string name(int rank) const { return rank_name(rank, guests[std::size_t(rank)].process); }
  std::string late(const std::string& who) const {
    return who + " within " + seconds(world.timeout) +
           ". Start a process for each rank, on this host, with the same id of the world.";
  }

  /// Admits a process that has come, if it is one of ours: of the same user, and with the right
  /// first message.
  void admit() {
    Descriptor socket = accept_from(listener), memory;
    if (socket.get() < 0) return;
    const ucred credentials = other_end(socket);
    if (credentials.uid != geteuid()) return;
    Hello hello;
    if (!receive_message(socket, &hello, sizeof hello, memory) ||
        std::memcmp(hello.magic, Hello().magic, sizeof hello.magic) != 0 || hello.rank < 0)
      return;
    std::optional<std::vector<Fact>> facts = facts_in(memory);
    const std::string problem = problem_of(hello, credentials.pid, facts.has_value());
    if (!problem.empty()) {
      send_answer(socket, problem, -1);
      refuse(problem);
    }
    Guest& guest = guests[std::size_t(hello.rank)];
    guest.process = credentials.pid;
    guest.socket = std::move(socket);
    guest.facts = std::move(*facts);
  }
  std::string problem_of(const Hello& hello, int process, bool has_facts) const {
    if (hello.version != layout_version || !has_facts)
      return rank_name(hello.rank, process) +
             " is of another version of Sinter than rank 0. Start all "
             "ranks from the same build.";
    if (hello.ranks != world.ranks)
      return rank_name(hello.rank, process) + " says that there are " +
             std::to_string(hello.ranks) + " ranks, and rank 0 that there are " +
             std::to_string(world.ranks) + ". Give all ranks the same number.";
    if (hello.rank >= world.ranks)
      return rank_name(hello.rank, process) + " is none of " + std::to_string(world.ranks) +
             " ranks, which are counted from 0.";
    if (hello.rank == 0 || guests[std::size_t(hello.rank)].process)
      return "rank " + std::to_string(hello.rank) + " has come twice: as process " +
             std::to_string(hello.rank ? guests[std::size_t(hello.rank)].process : getpid()) +
             " and as process " + std::to_string(process) + ". Give each rank its own number.";
    return "";
  }
  /// Refuses all ranks if their facts differ. (Only after all have come, so that each gets the
  /// message.)
  void compare_facts() const {
    std::vector<Witness> all{{0, rank_name(0, getpid()), world.facts}};
    for (int r = 1; r < world.ranks; ++r) {
      const Guest& guest = guests[std::size_t(r)];
      all.push_back({r, name(r), guest.facts});
    }
    const std::string problem = difference(all);
    if (!problem.empty()) refuse(problem);
  }
  /// Says to all that have come, and to the caller, why they cannot begin.
  [[noreturn]] void refuse(const std::string& problem) const {
    for (const Guest& guest : guests)
      if (guest.process) send_answer(guest.socket, problem, -1);
    throw Error(problem);
  }
};

/// Connects with rank 0, for which it waits.
Descriptor connect_with_host(const World& world) {
  const Clock::time_point end = Clock::now() + world.timeout;
  const Address address(world.id);
  for (;;) {
    Descriptor made = new_socket();
    if (connect(made.get(), address.get(), address.bytes()) == 0) return made;
    if (errno != ECONNREFUSED && errno != EAGAIN && errno != EINTR)
      throw_system_error("no connection");
    if (Clock::now() > end)
      throw Error(
          "rank 0 of the world \"" + world.id + "\", for which rank " + std::to_string(world.rank) +
          " has waited " + seconds(world.timeout) +
          ", has not come, or all its ranks have come already. Start a process for each rank, "
          "on this host, with the same id of the world.");
    std::this_thread::sleep_for(milliseconds(5));
  }
}

std::unique_ptr<Segment> gather_as_guest(const World& world, const Layout& layout) {
  const Descriptor host = connect_with_host(world);
  const ucred credentials = other_end(host);
  const std::string rank_0 = rank_name(0, credentials.pid);
  if (credentials.uid != geteuid())
    throw Error(rank_0 + " is of another user. Ranks share memory, and so must be of one.");
  Hello hello;
  hello.rank = world.rank;
  hello.ranks = world.ranks;
  // If it fails, rank 0 has gone, or its answer is there already.
  send_message(host, &hello, sizeof hello, memory_of(world.facts).get());
  pollfd answer{host.get(), POLLIN, 0};
  const Clock::time_point end = Clock::now() + world.timeout + std::chrono::seconds(5);
  while (poll(&answer, 1, left_until(end)) < 1)
    if (Clock::now() > end)
      throw Error(rank_0 + " says nothing. Is it stopped? Start all ranks again.");
  return std::make_unique<Segment>(receive_memory(host, rank_0), layout);
}

}  // namespace

std::unique_ptr<Segment> gather(const World& world, const Layout& layout) {
  if (world.rank == 0) return Host(world).gather(layout);
  return gather_as_guest(world, layout);
}

}  // namespace sinter::detail::shared_memory
