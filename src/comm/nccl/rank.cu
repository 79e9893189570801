// SPDX-License-Identifier: Apache-2.0
// Ranks over NCCL. A transfer runs on a stream of its own, which begins at an event of the card's stream
// and ends with one for which that waits: in a capture, the two become edges of the graph.
#include <cuda_runtime.h>
#include <nccl.h>

#include <algorithm>
#include <map>
#include <utility>

#include "device/cuda/errors.hpp"
#include "device/cuda/launch.hpp"
#include "sinter/comm/nccl.hpp"

namespace sinter {
namespace {

using kernel::check;

void check(ncclResult_t result, ncclComm_t ranks = nullptr) {
  if (result == ncclSuccess) return;
  std::string why = ncclGetLastError(ranks);
  if (!why.empty()) why = ", \"" + why + "\"";
  throw Error(
      std::string("Sinter: the ranks cannot exchange gradients: NCCL says \"") +
      ncclGetErrorString(result) + "\"" + why +
      ". Set NCCL_DEBUG=INFO to see what it does, and start all ranks again; what was computed "
      "since the last checkpoint is lost.");
}

template <class T>
constexpr ncclDataType_t type_of = ncclFloat32;
template <>
constexpr ncclDataType_t type_of<double> = ncclFloat64;
template <>
constexpr ncclDataType_t type_of<BFloat16> = ncclBfloat16;
template <>
constexpr ncclDataType_t type_of<Float16> = ncclFloat16;

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

class NcclRank final : public Communicator {
  kernel::Stream& stream;
  const World world;
  ncclComm_t all = nullptr;
  cudaStream_t transfers = nullptr;
  Event begins;
  std::map<const void*, Event> done;  // of what was started, by address

 public:
  NcclRank(kernel::Stream& s, const World& w) : stream(s), world(w) {
    ncclUniqueId id{};
    const std::string bytes = world.id.empty() ? nccl_world_id() : world.id;
    if (bytes.size() != sizeof id)
      throw Error("Sinter: the id of a world has " + std::to_string(bytes.size()) + " bytes, not " +
                  std::to_string(sizeof id) +
                  ". Give each rank what nccl_world_id() returned in one.");
    std::ranges::copy(bytes, id.internal);
    check(ncclCommInitRank(&all, world.ranks, id, world.rank));
    check(cudaStreamCreateWithFlags(&transfers, cudaStreamNonBlocking));
  }
  ~NcclRank() override {
    if (transfers) cudaStreamDestroy(transfers);
    if (ncclComm_t ranks = released()) ncclCommDestroy(ranks);
  }

  int rank() const override { return world.rank; }
  int ranks() const override { return world.ranks; }
  void start_sum(float* data, std::int64_t count) override { sum_later(data, count); }
  void start_sum(double* data, std::int64_t count) override { sum_later(data, count); }
  void start_sum(BFloat16* data, std::int64_t count) override { sum_later(data, count); }
  void start_sum(Float16* data, std::int64_t count) override { sum_later(data, count); }
  void start_reduce_scatter(float* data, std::int64_t count) override {
    scatter_later(data, count);
  }
  void start_reduce_scatter(double* data, std::int64_t count) override {
    scatter_later(data, count);
  }
  void start_reduce_scatter(BFloat16* data, std::int64_t count) override {
    scatter_later(data, count);
  }
  void start_reduce_scatter(Float16* data, std::int64_t count) override {
    scatter_later(data, count);
  }
  void start_all_gather(float* data, std::int64_t count) override { gather_later(data, count); }
  void start_all_gather(double* data, std::int64_t count) override { gather_later(data, count); }
  void start_all_gather(BFloat16* data, std::int64_t count) override { gather_later(data, count); }
  void start_all_gather(Float16* data, std::int64_t count) override { gather_later(data, count); }

  void wait(const void* data) override {
    if (device().mode != kernel::Mode::tell) done.at(data).hold(device().raw);
  }
  void sum(double* values, int count) override {
    sum_later(values, count);
    wait(values);
  }
  void abort() noexcept override {
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

  template <class T>
  void sum_later(T* data, std::int64_t count) {
    start(data, [&] {
      check(ncclAllReduce(data, data, std::size_t(count), type_of<T>, ncclSum, all, transfers),
            all);
    });
  }
  template <class T>
  void scatter_later(T* data, std::int64_t count) {
    start(data, [&] {
      if (count % world.ranks != 0)
        return each_part(data, count, [&](T* part, std::size_t size, int rank) {
          check(ncclReduce(part, part, size, type_of<T>, ncclSum, rank, all, transfers), all);
        });
      const std::int64_t size = count / world.ranks;
      check(ncclReduceScatter(data, data + size * world.rank, std::size_t(size), type_of<T>,
                              ncclSum, all, transfers),
            all);
    });
  }
  template <class T>
  void gather_later(T* data, std::int64_t count) {
    start(data, [&] {
      if (count % world.ranks != 0)
        return each_part(data, count, [&](T* part, std::size_t size, int rank) {
          check(ncclBroadcast(part, part, size, type_of<T>, rank, all, transfers), all);
        });
      const std::int64_t size = count / world.ranks;
      check(ncclAllGather(data + size * world.rank, data, std::size_t(size), type_of<T>, all,
                          transfers),
            all);
    });
  }
  /// NCCL's own parts are equal; others are a transfer each, and all of them one launch.
  template <class T, class Transfer>
  void each_part(T* data, std::int64_t count, const Transfer& transfer) {
    check(ncclGroupStart(), all);
    for (int r = 0; r < world.ranks; ++r) {
      const std::int64_t begin = part_begin(count, r, world.ranks);
      transfer(data + begin, std::size_t(part_begin(count, r + 1, world.ranks) - begin), r);
    }
    check(ncclGroupEnd(), all);
  }
  /// Runs a transfer of data when what came before it on the stream is done.
  template <class Transfer>
  void start(const void* data, const Transfer& transfer) {
    Event& ends = done[data];  // made before anything is captured
    if (device().mode == kernel::Mode::tell) return;
    begins.record(device().raw);
    begins.hold(transfers);
    transfer();
    ends.record(transfers);
  }
};

}  // namespace

std::string nccl_world_id() {
  ncclUniqueId id;
  check(ncclGetUniqueId(&id));
  return {std::begin(id.internal), std::end(id.internal)};
}

std::unique_ptr<Communicator> nccl_rank(kernel::Stream& stream, const World& world) {
  return std::make_unique<NcclRank>(stream, world);
}

}  // namespace sinter
