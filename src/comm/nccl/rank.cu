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
  void start_sum(float* data, std::int64_t count) override { start(data, count); }
  void start_sum(double* data, std::int64_t count) override { start(data, count); }
  void start_sum(BFloat16* data, std::int64_t count) override { start(data, count); }
  void start_sum(Float16* data, std::int64_t count) override { start(data, count); }

  void wait(const void* data) override {
    if (device().mode != kernel::Mode::tell) done.at(data).hold(device().raw);
  }
  void sum(double* values, int count) override {
    start(values, count);
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
  void start(T* data, std::int64_t count) {
    Event& ends = done[data];  // made before anything is captured
    if (device().mode == kernel::Mode::tell) return;
    begins.record(device().raw);
    begins.hold(transfers);
    check(ncclAllReduce(data, data, std::size_t(count), type_of<T>, ncclSum, all, transfers), all);
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
