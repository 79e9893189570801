// SPDX-License-Identifier: Apache-2.0
#include "comm/shared_memory/segment.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "comm/transfer_text.hpp"
#include "hardware/cpu/sleeper.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::shared_memory {
namespace {

using Clock = std::chrono::steady_clock;
constexpr char magic[] = "sinter r";

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; }
constexpr std::size_t begin_of_areas(int ranks) {
  return aligned(sizeof(Header) + std::size_t(ranks) * sizeof(RankState));
}
constexpr std::size_t begin_of_rings(const Layout& layout) {
  const std::size_t areas = std::size_t(layout.depth) * std::size_t(layout.ranks + 1);
  return begin_of_areas(layout.ranks) + areas * std::size_t(layout.chunk);
}
std::size_t size_for(const Layout& layout) {
  return begin_of_rings(layout) + Rings(nullptr, layout.ranks, layout.ring).bytes();
}

}  // namespace

Layout Layout::of(int ranks) {
  const auto chunk = std::clamp((4u << 20) / unsigned(ranks), 32u << 10, 256u << 10);
  return {ranks, 2, std::int64_t(aligned(chunk)), Rings::room_of(ranks)};
}

Descriptor::~Descriptor() {
  if (value >= 0) ::close(value);
}

std::string seconds(std::chrono::milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", double(time.count()) / 1000);
  return text;
}

std::string rank_name(int rank, int process) {
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, sizeof host - 1);
  return "rank " + std::to_string(rank) + " (process " + std::to_string(process) + " on " + host +
         ")";
}

Segment::Segment(const Layout& layout)
    : file(memfd_create("sinter ranks", MFD_CLOEXEC)), lookout(layout.ranks) {
  size = size_for(layout);
  // Memory that is reserved now cannot be missing later, which would end the process.
  int error = file.get() < 0 || ftruncate(file.get(), off_t(size)) != 0 ? errno : 0;
  if (error == 0) error = posix_fallocate(file.get(), 0, off_t(size));
  if (error != 0)
    throw Error("the system gives the ranks no " + std::to_string(size) +
                " bytes of memory to share: " + std::strerror(error) + ".");
  map();
  auto* header = new (base) Header{{}, layout_version, layout, 0};
  std::memcpy(header->magic, magic, sizeof header->magic);
  for (int r = 0; r < layout.ranks; ++r) new (&state(r)) RankState{};
  rings().clear();
}

Segment::Segment(Descriptor made, const Layout& layout)
    : file(std::move(made)), lookout(layout.ranks) {
  struct stat status{};
  if (fstat(file.get(), &status) != 0 || std::size_t(status.st_size) != size_for(layout))
    throw Error("the memory of rank 0 is not that of " + std::to_string(layout.ranks) +
                " ranks. Start all ranks from the same build.");
  size = size_for(layout);
  map();
  if (std::memcmp(header().magic, magic, sizeof header().magic) != 0 ||
      header().version != layout_version || header().layout != layout)
    throw Error(
        "the memory of rank 0 has another layout. Start all ranks from the same "
        "build.");
}

void Segment::map() {
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED)
    throw Error("the memory that the ranks share cannot be mapped: " +
                std::string(std::strerror(errno)) + ".");
  base = static_cast<std::byte*>(at);
}

Segment::~Segment() {
  if (base) munmap(base, size);
}

RankState& Segment::state(int rank) const {
  return reinterpret_cast<RankState*>(base + sizeof(Header))[rank];
}

std::byte* Segment::area(int part, std::uint32_t chunk) const {
  const std::size_t number =
      std::size_t(part) + (chunk % std::uint32_t(header().layout.depth)) * std::size_t(ranks() + 1);
  return base + begin_of_areas(ranks()) + number * std::size_t(header().layout.chunk);
}

Rings Segment::rings() const {
  return {base + begin_of_rings(header().layout), ranks(), header().layout.ring};
}

Channels Segment::channels(int rank) const {
  Channels all;
  for (int r = 0; r < ranks(); ++r)
    all.push_back(r == rank ? nullptr : rings().channel(rank, r, state(r).bell));
  return all;
}

void Segment::watch(int rank, std::chrono::milliseconds progress) {
  me = rank;
  patience = progress;
  for (int r = 0; r < ranks(); ++r) {
    processes.emplace_back(int(syscall(SYS_pidfd_open, state(r).process, 0)));
    if (processes.back().get() >= 0) continue;
    const int error = errno;
    fail(error == ESRCH ? Failure::died : Failure::stopped, error == ESRCH ? r : me);
    if (error == ESRCH) throw_failure();
    throw Error("the process of " + name(r) + " cannot be watched: " + std::strerror(error) +
                ". Ranks need Linux 5.3 or later, and a sandbox that allows "
                "pidfd_open.");
  }
}

bool Segment::has_died(int rank) const {
  pollfd end{processes[std::size_t(rank)].get(), POLLIN, 0};
  return poll(&end, 1, 0) == 1;
}

bool Segment::await(Count RankState::* member, int rank, std::uint32_t want) {
  Count& count = state(rank).*member;
  const auto reached = [&] { return count.has_reached(want); };
  if (kernel::spin(1000, reached)) return true;
  const Clock::time_point begin = Clock::now();
  for (;;) {
    const std::uint32_t seen = count.done.load();
    if (reached()) return true;
    if (failure().kind != Failure::none) return reached();
    count.sleep(seen, look_around);
    if (reached()) return true;
    const Failure::Kind lost = loss_of(rank, begin);
    if (lost != Failure::none && !reached()) fail(lost, rank);
  }
}

Failure::Kind Segment::missing(int rank, Clock::time_point last) {
  const Failure now = failure();
  if (now.kind == Failure::stopped && now.rank == rank) return Failure::stopped;
  return Clock::now() - last < look_around ? Failure::none : loss_of(rank, last);
}

Failure::Kind Segment::loss_of(int rank, Clock::time_point since) {
  if (has_died(rank)) return Failure::died;
  const Lookout::Times seen = lookout.look(rank, state(rank).process, since);
  if (seen.stopped > max_suspended) return Failure::suspended;
  return seen.waited > patience ? Failure::stalled : Failure::none;
}

int Segment::culprit(int rank) const {
  int last = rank;
  for (int r = 0; r < ranks() && state(last).awaits >= 0; ++r) last = state(last).awaits;
  return state(last).awaits < 0 ? last : rank;  // or they wait for each other
}

bool Segment::is_hopeless(Clock::time_point last) const {
  const Failure now = failure();
  if (now.kind == Failure::none) return false;
  return now.kind != Failure::stopped || now.rank == me ||
         Clock::now() - last > std::chrono::seconds(1);
}

Failure Segment::failure() const {
  const std::uint32_t packed = header().failure.load();
  return {Failure::Kind(packed >> 16), std::uint16_t(packed)};
}

void Segment::fail(Failure::Kind kind, int rank) noexcept {
  const std::uint32_t why = std::uint32_t(kind) << 16 | std::uint32_t(rank);
  std::uint32_t known = 0;
  if (!header().failure.compare_exchange_strong(known, why) &&
      Failure::Kind(known >> 16) == Failure::stopped && kind > Failure::stopped)
    header().failure.compare_exchange_strong(known, why);
  for (int r = 0; r < ranks(); ++r)
    for (Count* count : {&state(r).staged, &state(r).summed, &state(r).scalars, &state(r).bell})
      count->wake();
}

void Segment::throw_failure() const {
  const Failure why = failure();
  const RankState& at = state(why.rank);
  const std::string self = "rank " + std::to_string(me) + " of " + std::to_string(ranks());
  const std::string other = name(why.rank);
  const std::string again =
      " Start all ranks again; what was computed since the last checkpoint is lost.";
  switch (why.kind) {
    case Failure::died:
      throw RankError(self + " cannot go on: " + other + " has died." + again);
    case Failure::stalled:
      throw RankError(self + " cannot go on: " + other +
                      " lives, but has not taken part in a transfer for " + seconds(patience) +
                      ". Does it hang, or is it at work on something that the others are not?" +
                      again);
    case Failure::suspended:
      throw RankError(self + " cannot go on: " + other + " has been stopped, as by SIGSTOP, for " +
                      seconds(max_suspended) + "." + again);
    case Failure::differs:
      throw RankError(
          self + " cannot go on: " + other + " is at another transfer than others, " +
          transfer_text(at.operation, at.peer, at.count, at.bytes) +
          ". All ranks must take the same steps, of the same recipe, on the same batches.");
    case Failure::unmatched:
      throw RankError(self + " cannot go on: " +
                      mismatch_text(at.wrong, name(at.wrong.sender), name(at.wrong.receiver)));
    case Failure::stopped:
    case Failure::none:
      break;
  }
  throw RankError(self + " waits for ranks that have stopped: " + other +
                  ". Its own error says why.");
}

}  // namespace sinter::detail::shared_memory
