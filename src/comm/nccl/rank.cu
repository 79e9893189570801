// SPDX-License-Identifier: Apache-2.0
// Ranks over NCCL. A transfer runs on a stream of its own, which begins at an event of the card's stream
// and ends with one for which that waits: in a capture, the two become edges of the graph. What waits on a
// card for a rank that is lost waits for ever: the host's side ends the process then.
#include <cuda_runtime.h>
#include <nccl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include "comm/card_world.hpp"
#include "hardware/cuda/errors.hpp"
#include "hardware/cuda/launch.hpp"
#include "sinter/comm/nccl.hpp"

namespace sinter {
using namespace detail;
namespace {

using kernel::check;

void check(ncclResult_t result, ncclComm_t ranks = nullptr) {
  if (result == ncclSuccess) return;
  std::string why = ncclGetLastError(ranks);
  if (!why.empty()) why = ", \"" + why + "\"";
  throw Error(
      std::string("the ranks cannot exchange gradients: NCCL says \"") +
      ncclGetErrorString(result) + "\"" + why +
      ". Set NCCL_DEBUG=INFO to see what it does, and start all ranks again; what was computed "
      "since the last checkpoint is lost.");
}

ncclDataType_t type_of(Element element) {
  switch (element) {
    case Element::f64:
      return ncclFloat64;
    case Element::bf16:
      return ncclBfloat16;
    case Element::f16:
      return ncclFloat16;
    default:
      return ncclFloat32;
  }
}

class Event {
  cudaEvent_t raw = nullptr;

 public:
  Event() { check(cudaEventCreateWithFlags(&raw, cudaEventDisableTiming)); }
  ~Event() { cudaEventDestroy(raw); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) { check(cudaEventRecord(raw, stream)); }
  void hold(cudaStream_t stream) const { check(cudaStreamWaitEvent(stream, raw, 0)); }
};

/// Memory of the card.
class Room {
  void* raw = nullptr;

 public:
  std::size_t bytes;

  explicit Room(std::size_t size) : bytes(size) {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;  // while a graph is recorded, too
    check(cudaThreadExchangeStreamCaptureMode(&mode));
    const cudaError_t error = cudaMalloc(&raw, size);
    check(cudaThreadExchangeStreamCaptureMode(&mode));
    check(error);
  }
  Room(Room&& other) noexcept : raw(std::exchange(other.raw, nullptr)), bytes(other.bytes) {}
  ~Room() { cudaFree(raw); }
  std::byte* get() const { return static_cast<std::byte*>(raw); }
};

class NcclRank final : public Communicator {
  kernel::Stream& stream;
  const std::unique_ptr<CardWorld> hosts;  // none of a group
  const int me, count;
  ncclComm_t all;
  cudaStream_t transfers = nullptr;
  Event begins;
  std::map<const void*, Event> done;  // of what was started, by address
  std::vector<Transfer> together;     // sends and receives that are to run beside each other
  std::vector<Room> rooms;  // of all-to-alls; the last is the largest, graphs may hold others
  const Room come{sizeof(double)};  // what a barrier sums

 public:
  /// made  takes it over
  NcclRank(kernel::Stream& s, ncclComm_t made, int rank, int ranks,
           std::unique_ptr<CardWorld> world = nullptr)
      : stream(s), hosts(std::move(world)), me(rank), count(ranks), all(made) {
    check(cudaStreamCreateWithFlags(&transfers, cudaStreamNonBlocking));
  }
  ~NcclRank() override {
    if (transfers) cudaStreamDestroy(transfers);
    if (ncclComm_t ranks = released()) ncclCommDestroy(ranks);
  }

  int rank() const override { return me; }
  int ranks() const override { return count; }
  void wait(const void* data) override {
    if (device().mode == kernel::Mode::update) return;
    run_group();
    done.at(data).hold(device().raw);
  }
  void sum(double* values, int count) override {
    start_sum(values, count);
    wait(values);
  }
  void barrier() override { sum(reinterpret_cast<double*>(come.get()), 1); }
  void abort() noexcept override {
    if (hosts) hosts->abort();
    if (ncclComm_t ranks = released()) ncclCommAbort(ranks);
  }

 private:
  kernel::Stream::Pool& device() const { return stream.device(); }

  /// The communicator, no longer in any graph: as long as it is in one, NCCL waits for ever to be rid
  /// of it.
  ncclComm_t released() {
    device().graphs.clear();
    return std::exchange(all, nullptr);
  }

  /// Runs a transfer when what came before it on the stream is done. A send or a receive runs with others
  /// of its group, when the last of them may.
  void start_transfer(const Transfer& transfer) override {
    Event& ends = done[transfer.data];  // made before anything is captured
    if (transfer.operation == Operation::all_to_all) make_room(bytes_of(transfer));
    if (device().mode == kernel::Mode::update) return;
    if (!is_between_two(transfer.operation)) run_group();
    begins.record(device().raw);
    begins.hold(transfers);
    if (is_between_two(transfer.operation)) return together.push_back(transfer);
    run(transfer);
    ends.record(transfers);
  }
  std::unique_ptr<Communicator> make_group(std::span<const int> members, int rank) override {
    ncclComm_t some = nullptr;
    check(ncclCommSplit(all, members[0], rank, &some, nullptr), all);
    return std::make_unique<NcclRank>(stream, some, rank, int(members.size()));
  }
  void run_group() {
    if (together.empty()) return;
    check(ncclGroupStart(), all);
    for (const Transfer& t : together) pass(t.operation, t.data, std::size_t(t.count), t);
    check(ncclGroupEnd(), all);
    for (const Transfer& t : together) done.at(t.data).record(transfers);
    together.clear();
  }
  /// Sends or receives elements as those of a transfer.
  void pass(Operation way, void* data, std::size_t count, const Transfer& t) {
    const ncclDataType_t type = type_of(t.element);
    check(way == Operation::send ? ncclSend(data, count, type, t.peer, all, transfers)
                                 : ncclRecv(data, count, type, t.peer, all, transfers),
          all);
  }
  static std::size_t bytes_of(const Transfer& t) {
    return std::size_t(t.count) * std::size_t(detail::bytes_of(t.element));
  }
  void make_room(std::size_t bytes) {
    if (rooms.empty() || rooms.back().bytes < bytes) rooms.emplace_back(bytes);
  }
  /// Copies the array first, as received parts replace it.
  void all_to_all(const Transfer& t) {
    const std::size_t part = std::size_t(t.count / ranks()), bytes = bytes_of(t) / ranks();
    if (bytes == 0) return;
    std::byte *const copy = rooms.back().get(), *const data = static_cast<std::byte*>(t.data);
    check(cudaMemcpyAsync(copy, data, bytes_of(t), cudaMemcpyDeviceToDevice, transfers));
    check(ncclGroupStart(), all);
    for (int r = 0; r < ranks(); ++r) {
      if (r == me) continue;
      const Transfer with{t.operation, nullptr, 0, t.element, r};
      pass(Operation::send, copy + r * bytes, part, with);
      pass(Operation::receive, data + r * bytes, part, with);
    }
    check(ncclGroupEnd(), all);
  }
  void run(const Transfer& t) {
    const ncclDataType_t type = type_of(t.element);
    const auto at = [&](std::int64_t first) {
      return static_cast<std::byte*>(t.data) + first * detail::bytes_of(t.element);
    };
    const std::size_t count = std::size_t(t.count), size = count / std::size_t(ranks());
    const bool equal = t.count % ranks() == 0;
    std::byte* const mine = at(std::int64_t(size) * me);  // if the parts are equal
    switch (t.operation) {
      case Operation::all_reduce:
        return check(ncclAllReduce(t.data, t.data, count, type, ncclSum, all, transfers), all);
      case Operation::reduce_scatter:
        if (equal)
          return check(ncclReduceScatter(t.data, mine, size, type, ncclSum, all, transfers), all);
        return each_part(t.count, [&](std::int64_t first, std::size_t part, int r) {
          check(ncclReduce(at(first), at(first), part, type, ncclSum, r, all, transfers), all);
        });
      case Operation::all_gather:
        if (equal) return check(ncclAllGather(mine, t.data, size, type, all, transfers), all);
        return each_part(t.count, [&](std::int64_t first, std::size_t part, int r) {
          check(ncclBroadcast(at(first), at(first), part, type, r, all, transfers), all);
        });
      case Operation::broadcast:
        return check(ncclBroadcast(t.data, t.data, count, type, t.peer, all, transfers), all);
      case Operation::reduce:
        return check(ncclReduce(t.data, t.data, count, type, ncclSum, t.peer, all, transfers), all);
      case Operation::all_to_all:
        return all_to_all(t);
      default:
        break;  // start() lets no other pass
    }
  }
  /// NCCL's own parts are equal; others are a transfer each, and all of them one launch.
  void each_part(std::int64_t count, const auto& visit) {
    check(ncclGroupStart(), all);
    for (int r = 0; r < ranks(); ++r) {
      const std::int64_t begin = part_begin(count, r, ranks());
      visit(begin, std::size_t(part_begin(count, r + 1, ranks()) - begin), r);
    }
    check(ncclGroupEnd(), all);
  }
};

std::string make_id() {
  ncclUniqueId id;
  check(ncclGetUniqueId(&id));
  return {std::begin(id.internal), std::end(id.internal)};
}

}  // namespace

std::unique_ptr<Communicator> nccl_rank(kernel::Stream& stream, const World& world) {
  const auto end_process = [rank = world.rank](const std::string& what) {
    std::fprintf(stderr, "error: rank %d: %s\n", rank, what.c_str());
    std::fflush(nullptr);
    std::_Exit(1);
  };
  auto hosts = std::make_unique<CardWorld>(world, make_id, end_process);
  ncclUniqueId id{};
  std::ranges::copy(hosts->id(), id.internal);
  ncclComm_t all = nullptr;
  check(ncclCommInitRank(&all, world.ranks, id, world.rank));
  return std::make_unique<NcclRank>(stream, all, world.rank, world.ranks, std::move(hosts));
}

}  // namespace sinter
