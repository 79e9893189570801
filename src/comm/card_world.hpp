// SPDX-License-Identifier: Apache-2.0
// The ranks' side on their hosts, if each has a card.
#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "sinter/comm/communicator.hpp"
#include "sinter/comm/world.hpp"

namespace sinter::detail {

/// A rank's end of the hosts' communication, for ranks on cards. They meet as ranks on the CPU do,
/// and compare their facts. Rank 0 makes an id by which their cards find each other. A thread of
/// each rank notices when another rank is lost, which no card reports.
class CardWorld {
 public:
  using Id = std::function<std::string()>;
  using Lost = std::function<void(const std::string& what)>;

  /// Waits until all ranks have come, and have the id.
  ///   make_id   is called in the first rank
  ///   lost      is called by the watching thread, once, if another rank has died, is stopped or cut off, or
  ///             cannot go on, before this one or any other has ended its world
  /// throws    as shared_memory_rank() and hosts_rank(), and what make_id throws
  CardWorld(const World& world, const Id& make_id, Lost lost);
  /// Ends the world, and the watch.
  ~CardWorld();
  CardWorld(const CardWorld&) = delete;
  CardWorld& operator=(const CardWorld&) = delete;

  const std::string& id() const { return id_; }
  /// Tells the others that this rank cannot go on.
  void abort() noexcept;

 private:
  enum class State { lives, ends, aborted };

  void set(State state) noexcept;
  void watch();
  /// What this rank will do at the next check.
  State next_state();

  const std::unique_ptr<Communicator> hosts_;
  const Lost lost_;
  std::string id_;
  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::lives;
  std::thread thread_;
};

}  // namespace sinter::detail
