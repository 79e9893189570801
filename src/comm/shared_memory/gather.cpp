// SPDX-License-Identifier: Apache-2.0
#include "comm/shared_memory/gather.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "sinter/error.hpp"

namespace sinter::shared_memory {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// What a rank says when it comes.
struct Hello {
  char magic[8] = {'s', 'i', 'n', 't', 'e', 'r', ' ', 'h'};
  std::uint32_t version = layout_version;
  std::int32_t rank = 0, ranks = 0;
};
/// What rank 0 answers: why not, or nothing, and then it gives the memory.
struct Answer {
  char problem[1000] = "";
};

[[noreturn]] void throw_system_error(const char* what) {
  throw Error("Sinter: the ranks cannot find each other: " + std::string(what) + ": " +
              std::strerror(errno) + ".");
}

int left_until(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now()).count();
  return int(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

/// Sockets that keep the bounds of messages, by an address that is in no file system.
class Address {
  sockaddr_un address{};
  socklen_t size;

 public:
  explicit Address(const std::string& id) {
    const std::string name = "sinter ranks " + id;
    address.sun_family = AF_UNIX;
    std::ranges::copy(name, address.sun_path + 1);  // what begins with 0 is abstract
    size = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
  socklen_t bytes() const { return size; }
};

/// Lets nobody wait long for a message that must have been sent.
void limit_waits(const Descriptor& socket) {
  const timeval second{1, 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
}

Descriptor new_socket() {
  Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (made.get() < 0) throw_system_error("no socket");
  limit_waits(made);
  return made;
}

/// The process at the other end.
ucred other_end(const Descriptor& socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    throw_system_error("the process at the other end");
  return credentials;
}

void send_answer(const Descriptor& to, const std::string& problem, int descriptor) {
  Answer answer;
  problem.copy(answer.problem, sizeof answer.problem - 1);
  iovec part{&answer, sizeof answer};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof descriptor)] = {};
  if (problem.empty()) {
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  }
  sendmsg(to.get(), &message, MSG_NOSIGNAL);  // who has gone is noticed elsewhere
}

/// throws    Error if rank 0 says what is wrong, or has gone
Descriptor receive_memory(const Descriptor& from, const std::string& rank_0) {
  Answer answer;
  iovec part{&answer, sizeof answer};
  msghdr message{};
  int descriptor = -1;
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof descriptor)] = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  if (recvmsg(from.get(), &message, MSG_CMSG_CLOEXEC) != sizeof answer)
    throw Error("Sinter: " + rank_0 +
                " has ended before all ranks had come. Its own error says why, if it could.");
  answer.problem[sizeof answer.problem - 1] = 0;
  if (answer.problem[0]) throw Error(answer.problem);
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (head && head->cmsg_type == SCM_RIGHTS)
    std::memcpy(&descriptor, CMSG_DATA(head), sizeof descriptor);
  return Descriptor(descriptor);
}

/// Rank 0, to which the others come.
class Host {
  struct Guest {
    Descriptor socket;
    std::int32_t process = 0;
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
      throw Error("Sinter: there is a rank 0 of the world \"" + world.id +
                  "\" already. Give each rank its own number, and each run a new id.");
    }
    if (listen(listener.get(), world.ranks) != 0) throw_system_error("no listening");
  }

  std::unique_ptr<Segment> gather() {
    while (!missing().empty()) {
      if (!wait()) refuse(late());
      for (std::size_t r = 1; r < guests.size(); ++r)
        if (guests[r].process && has_gone(guests[r].socket))
          refuse(name(int(r), guests[r].process) + " has ended before all ranks had come.");
      if (is_ready(listener)) admit();
    }
    auto segment = std::make_unique<Segment>(world.ranks);
    segment->state(0).process = getpid();
    for (std::size_t r = 1; r < guests.size(); ++r)
      segment->state(int(r)).process = guests[r].process;
    for (std::size_t r = 1; r < guests.size(); ++r)
      send_answer(guests[r].socket, "", segment->descriptor());
    return segment;
  }

 private:
  static std::string name(int rank, int process) {
    return "rank " + std::to_string(rank) + " (process " + std::to_string(process) + ")";
  }
  static bool is_ready(const Descriptor& descriptor) {
    pollfd one{descriptor.get(), POLLIN, 0};
    return poll(&one, 1, 0) == 1;
  }
  /// Guests say nothing more, so that what can be read of them is their end.
  static bool has_gone(const Descriptor& guest) { return is_ready(guest); }

  std::vector<int> missing() const {
    std::vector<int> list;
    for (int r = 1; r < world.ranks; ++r)
      if (guests[std::size_t(r)].process == 0) list.push_back(r);
    return list;
  }
  std::string late() const {
    const std::vector<int> list = missing();
    std::string text = list.size() == 1 ? "rank" : "ranks";
    for (std::size_t k = 0; k < std::min<std::size_t>(list.size(), 16); ++k)
      text += (k ? ", " : " ") + std::to_string(list[k]);
    if (list.size() > 16) text += " and more";
    return text + " of " + std::to_string(world.ranks) + (list.size() == 1 ? " has" : " have") +
           " not come within " + seconds(world.timeout) +
           ". Start a process for each rank, on this host, with the same id of the world.";
  }

  /// Waits until somebody comes or goes. Returns false if it takes too long.
  bool wait() const {
    std::vector<pollfd> all{{listener.get(), POLLIN, 0}};
    for (const Guest& guest : guests)
      if (guest.process) all.push_back({guest.socket.get(), POLLIN, 0});
    const int ready = poll(all.data(), all.size(), left_until(end));
    return ready > 0 || (ready < 0 && errno == EINTR);
  }

  /// Lets in who has come, if it is one of ours: a process of the same user that says hello.
  void admit() {
    Descriptor socket(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket.get() < 0) return;
    const ucred credentials = other_end(socket);
    if (credentials.uid != geteuid()) return;
    limit_waits(socket);
    Hello hello;
    if (recv(socket.get(), &hello, sizeof hello, 0) != sizeof hello ||
        std::memcmp(hello.magic, Hello().magic, sizeof hello.magic) != 0 || hello.rank < 0)
      return;
    const std::string problem = problem_of(hello, credentials.pid);
    if (!problem.empty()) {
      send_answer(socket, "Sinter: " + problem, -1);
      refuse(problem);
    }
    Guest& guest = guests[std::size_t(hello.rank)];
    guest.process = credentials.pid;
    guest.socket = std::move(socket);
  }
  std::string problem_of(const Hello& hello, int process) const {
    if (hello.version != layout_version)
      return name(hello.rank, process) +
             " is of another version of Sinter than rank 0. Start all "
             "ranks from the same build.";
    if (hello.ranks != world.ranks)
      return name(hello.rank, process) + " says that there are " + std::to_string(hello.ranks) +
             " ranks, and rank 0 that there are " + std::to_string(world.ranks) +
             ". Give all ranks the same number.";
    if (hello.rank >= world.ranks)
      return name(hello.rank, process) + " is none of " + std::to_string(world.ranks) +
             " ranks, which are counted from 0.";
    if (hello.rank == 0 || guests[std::size_t(hello.rank)].process)
      return "rank " + std::to_string(hello.rank) + " has come twice: as process " +
             std::to_string(hello.rank ? guests[std::size_t(hello.rank)].process : getpid()) +
             " and as process " + std::to_string(process) + ". Give each rank its own number.";
    return "";
  }
  /// Says to all that have come, and to the caller, why they cannot begin.
  [[noreturn]] void refuse(const std::string& problem) const {
    for (const Guest& guest : guests)
      if (guest.process) send_answer(guest.socket, "Sinter: " + problem, -1);
    throw Error("Sinter: " + problem);
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
          "Sinter: rank 0 of the world \"" + world.id + "\", for which rank " +
          std::to_string(world.rank) + " has waited " + seconds(world.timeout) +
          ", has not come, or all its ranks have come already. Start a process for each rank, "
          "on this host, with the same id of the world.");
    std::this_thread::sleep_for(milliseconds(5));
  }
}

std::unique_ptr<Segment> gather_as_guest(const World& world) {
  const Descriptor host = connect_with_host(world);
  const ucred credentials = other_end(host);
  const std::string rank_0 = "rank 0 (process " + std::to_string(credentials.pid) + ")";
  if (credentials.uid != geteuid())
    throw Error("Sinter: " + rank_0 +
                " is of another user. Ranks share memory, and so must be of one.");
  Hello hello;
  hello.rank = world.rank;
  hello.ranks = world.ranks;
  // If it fails, rank 0 has gone, or its answer is there already.
  send(host.get(), &hello, sizeof hello, MSG_NOSIGNAL);
  pollfd answer{host.get(), POLLIN, 0};
  const Clock::time_point end = Clock::now() + world.timeout + std::chrono::seconds(5);
  while (poll(&answer, 1, left_until(end)) < 1)
    if (Clock::now() > end)
      throw Error("Sinter: " + rank_0 + " says nothing. Is it stopped? Start all ranks again.");
  return std::make_unique<Segment>(receive_memory(host, rank_0), world.ranks);
}

}  // namespace

std::unique_ptr<Segment> gather(const World& world) {
  if (world.rank == 0) return Host(world).gather();
  return gather_as_guest(world);
}

}  // namespace sinter::shared_memory
