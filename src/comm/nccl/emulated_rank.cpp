// SPDX-License-Identifier: Apache-2.0
// In place of NCCL on the emulated device: the ranks are threads of one process, and transfers those of
// thread_ranks(), in the order of each rank's stream.
#include <deque>
#include <map>
#include <mutex>

#include "device/cuda/emulated_submit.hpp"
#include "sinter/comm/nccl.hpp"

namespace sinter {
namespace {

using kernel::emulated::Opened;

class EmulatedRank final : public Communicator {
  kernel::Stream& stream;
  const std::unique_ptr<Communicator> end;
  std::deque<Opened> opened;  // one for each transfer under way, whose thread knows no device

 public:
  EmulatedRank(kernel::Stream& s, std::unique_ptr<Communicator> e) : stream(s), end(std::move(e)) {}

  int rank() const override { return end->rank(); }
  int ranks() const override { return end->ranks(); }
  void wait(const void* data) override {
    const auto finish = [this, data] {
      end->wait(data);
      opened.pop_back();
    };
    kernel::emulated::submit(stream, finish, data);
  }
  void sum(double* values, int count) override {
    const auto sum = [this, values, count] { end->sum(values, count); };
    kernel::emulated::submit(stream, sum, values, count);
  }
  void barrier() override {
    kernel::emulated::submit(stream, [this] { end->barrier(); });
  }
  void abort() noexcept override { end->abort(); }

 private:
  void start_transfer(const Transfer& transfer) override {
    const auto begin = [this, transfer] {
      opened.emplace_back();
      end->start(transfer);
    };
    kernel::emulated::submit(stream, begin, transfer.data, transfer.count, transfer.operation,
                             transfer.element, transfer.peer);
  }
  std::unique_ptr<Communicator> make_group(std::span<const int> members, int) override {
    return std::make_unique<EmulatedRank>(stream, end->group(members));
  }
};

/// The ends of worlds that have not been taken yet.
class Worlds {
  std::mutex mutex;
  std::map<std::string, std::vector<std::unique_ptr<Communicator>>> ends;
  int made = 0;

 public:
  std::string next_id() {
    const std::scoped_lock lock(mutex);
    return "world " + std::to_string(++made);
  }
  std::unique_ptr<Communicator> take(const World& world) {
    if (world.id.empty()) return std::move(thread_ranks(1)[0]);
    const std::scoped_lock lock(mutex);
    auto& all = ends[world.id];
    if (all.empty()) all = thread_ranks(world.ranks);
    auto mine = std::move(all.at(std::size_t(world.rank)));
    if (std::ranges::none_of(all, [](const auto& left) { return bool(left); }))
      ends.erase(world.id);
    return mine;
  }
};

Worlds& worlds() {
  static Worlds all;
  return all;
}

}  // namespace

std::string nccl_world_id() { return worlds().next_id(); }

std::unique_ptr<Communicator> nccl_rank(kernel::Stream& stream, const World& world) {
  return std::make_unique<EmulatedRank>(stream, worlds().take(world));
}

}  // namespace sinter
