// SPDX-License-Identifier: Apache-2.0
// A rank whose transfers go along the line of hosts.
#include <algorithm>
#include <memory>
#include <vector>

#include "comm/facts.hpp"
#include "comm/group_world.hpp"
#include "comm/hosts/jobs.hpp"
#include "comm/hosts/pairs.hpp"
#include "comm/queued_rank.hpp"
#include "sinter/comm/hosts.hpp"
#include "sinter/comm/shared_memory.hpp"
#include "sinter/error.hpp"

namespace sinter {
namespace detail {
namespace hosts {
namespace {

class HostsRank final : public QueuedRank<HostsRank> {
  const World world;
  const Roster roster;
  Control control;
  const std::unique_ptr<Line> along;
  Line& line;
  std::vector<const void*> sources;  // of a chunk, for each rank of this host
  Pairs pairs;
  Exchange swaps;  // of an all-to-all
  GroupWorlds groups;

 public:
  /// door  of rank 0, at which the others come, if it is open already
  explicit HostsRank(const World& w, Descriptor door = {})
      : world(w),
        roster(meet(w, std::move(door))),
        control(roster, w.rank, w.timeout),
        along(connected(w)),
        line(*along),
        sources(std::size_t(line.locals())),
        pairs(roster, control, line, w),
        swaps(pairs.channels(), w.rank) {
    double one = 1;
    control.sum(&one, 1);  // all are connected
    begin_transfers(pairs.channels());
  }
  ~HostsRank() override {
    abort();
    end_transfers();
  }

  int rank() const override { return world.rank; }
  int ranks() const override { return world.ranks; }
  void sum(double* values, int count) override { control.sum(values, count); }
  void abort() noexcept override { control.leave(); }

 private:
  friend class QueuedRank<HostsRank>;

  [[noreturn]] void lost() { control.throw_failure(); }
  /// Connects with the other ranks. What keeps it from that may be the end of another.
  std::unique_ptr<Line> connected(const World& w) {
    try {
      return std::make_unique<Line>(roster, control, w);
    } catch (const Error&) {
      if (control.is_hopeless({})) control.throw_failure();
      throw;
    }
  }

  /// Makes a group. Members on one host share memory; others meet at a port that the first of them
  /// opens and announces.
  std::unique_ptr<Communicator> make_group(std::span<const int> members, int rank) override {
    double port = 0;
    control.sum(&port, 1);  // all live
    World of_group = groups.next(world, members, rank);
    const auto host = [&](int member) { return roster.host_of(member); };
    if (std::ranges::all_of(members, [&](int m) { return host(m) == host(members[0]); }))
      return shared_memory_rank(of_group);
    Descriptor door;
    if (rank == 0) {
      door = listen_at(0);
      port = port_of(door);
      for (const int member : members.subspan(1)) start_send(&port, 1, member);
    } else {
      start_receive(&port, 1, members[0]);
    }
    wait(&port);
    of_group.meeting = {rank == 0 ? "localhost" : roster.address_of(members[0]), int(port)};
    return std::make_unique<HostsRank>(of_group, std::move(door));
  }

  template <class T>
  bool sum_all(T* data, std::int64_t count) {
    return sum(work_of<T>(Operation::all_reduce, count), Pieces<T>(data, count, line, 0), -1);
  }
  template <class T>
  bool reduce_scatter(T* data, std::int64_t count) {
    return sum(work_of<T>(Operation::reduce_scatter, count),
               Pieces<T>(data, count, line, world.ranks), -1);
  }
  template <class T>
  bool all_gather(T* data, std::int64_t count) {
    SpreadJob<T> job(line, work_of<T>(Operation::all_gather, count),
                     Pieces<T>(data, count, line, world.ranks));
    return line.run(job);
  }
  template <class T>
  bool broadcast(T* data, std::int64_t count, int root) {
    SpreadJob<T> job(line, work_of<T>(Operation::broadcast, count, root),
                     Pieces<T>(data, count, line, 0));
    return line.run(job);
  }
  template <class T>
  bool reduce(T* data, std::int64_t count, int root) {
    return sum(work_of<T>(Operation::reduce, count, root), Pieces<T>(data, count, line, 0),
               roster.host_of(root));
  }
  /// Exchanges the parts of each pair of ranks, once all are known to be at the same transfer.
  template <class T>
  bool all_to_all(T* data, std::int64_t count) {
    SpreadJob<T> nothing(line, work_of<T>(Operation::all_to_all, count),
                         Pieces<T>(data, 0, line, world.ranks));
    if (!line.run(nothing)) return false;
    const std::int64_t part = count / world.ranks;
    for (int k = 1; k < world.ranks; ++k) {
      const int rank = (world.rank + k) % world.ranks;
      swaps.add_swap({Operation::all_to_all, data + rank * part, part, element_of<T>, rank});
    }
    while (!swaps.are_all_done())
      if (!progress(swaps)) return false;
    swaps.clear();
    return true;
  }
  void ring() { pairs.ring(); }
  bool progress(Exchange& exchange) { return pairs.progress(exchange); }
  template <class T>
  bool sum(const Work& work, const Pieces<T>& pieces, int root_host) {
    SumJob<T> job(line, work, pieces, world.rank, root_host, sources);
    return line.run(job);
  }
};

}  // namespace
}  // namespace hosts
}  // namespace detail

std::unique_ptr<Communicator> hosts_rank(const World& world) {
  detail::check_place(world);
  if (world.ranks == 1) return single_rank();
  if (world.meeting.address.empty() || world.meeting.port < 1 || world.meeting.port > 65'535)
    throw ArgumentError(
        "ranks of several hosts find each other at World::meeting, and its address is \"" +
        world.meeting.address + "\" and its port " + std::to_string(world.meeting.port) +
        ". Name the host of rank 0, and a port from 1 to 65535 that is free there.");
  return std::make_unique<detail::hosts::HostsRank>(world);
}

std::unique_ptr<Communicator> process_rank(const World& world) {
  return world.meeting.address.empty() ? shared_memory_rank(world) : hosts_rank(world);
}

}  // namespace sinter
