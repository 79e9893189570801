// SPDX-License-Identifier: Apache-2.0
// The stream of a card.
#include <cublasLt.h>

#include <new>
#include <utility>

#include "hardware/cuda/errors.hpp"
#include "hardware/cuda/launch.hpp"
#include "hardware/cuda/queue.hpp"

namespace sinter::kernel {
namespace {

__global__ void set_condition(cudaGraphConditionalHandle handle, const std::int32_t* condition) {
  cudaGraphSetConditional(handle, *condition != 0);
}

}  // namespace

void check_launch() { check(cudaGetLastError()); }

int max_shared_bytes() {
  int card = 0, bytes = 0;
  check(cudaGetDevice(&card));
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, card));
  return bytes;
}

Stream::Pool::Pool()
    : scratch(take_memory(scratch_bytes)), workspace(take_memory(workspace_bytes)) {
  if (!scratch || !workspace) throw std::bad_alloc();
  if (cublasLtCreate(&library) != CUBLAS_STATUS_SUCCESS) throw std::bad_alloc();
  check(cudaStreamCreateWithFlags(&raw, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&body, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  for (Lane* lane : {&fetches, &stores})
    check(cudaStreamCreateWithFlags(&lane->raw, cudaStreamNonBlocking));
  for (cudaEvent_t* event :
       {&launched, &copied, &fetches.from, &fetches.end, &stores.from, &stores.end})
    check(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
}

/// After a failure of the card each of these calls fails, which needs no second report.
Stream::Pool::~Pool() {
  for (cudaStream_t stream : {raw, side, fetches.raw, stores.raw}) cudaStreamSynchronize(stream);
  for (cudaStream_t stream : {raw, body, side, fetches.raw, stores.raw}) cudaStreamDestroy(stream);
  for (cudaEvent_t event : {launched, copied, fetches.from, fetches.end, stores.from, stores.end})
    cudaEventDestroy(event);
  give_memory(scratch);
  give_memory(workspace);
  cublasLtDestroy(library);
}

Stream::Stream(int) : pool(std::make_shared<Pool>()) {}
Stream::~Stream() = default;

std::byte* take_memory(std::size_t bytes) {
  void* at = nullptr;
  const cudaError_t error = cudaMalloc(&at, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // it is reported here, and is no error of later calls
    return nullptr;
  }
  check(error);
  check(cudaMemset(at, 0, bytes));
  check(cudaDeviceSynchronize());  // streams of ours do not wait for the one of cudaMemset
  return static_cast<std::byte*>(at);
}
void give_memory(std::byte* at) { cudaFree(at); }

std::byte* take_host_memory(std::size_t bytes) {
  void* at = nullptr;
  const cudaError_t error = cudaMallocHost(&at, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  check(error);
  return static_cast<std::byte*>(at);
}
void give_host_memory(std::byte* at) { cudaFreeHost(at); }

void copy_in(Stream& stream, std::byte* to, const void* from, std::size_t bytes) {
  cudaStream_t raw = stream.device().raw;
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, raw));
  check(cudaStreamSynchronize(raw));
}

void copy_out(Stream& stream, void* to, const std::byte* from, std::size_t bytes) {
  cudaStream_t raw = stream.device().raw;
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, raw));
  check(cudaStreamSynchronize(raw));
}

void send_bytes(Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream.device().raw));
}

void copy_beside(Stream& stream, std::byte* to, std::span<const std::span<const std::byte>> parts) {
  const Stream::Pool& device = stream.device();
  check(cudaEventRecord(device.launched, device.raw));
  check(cudaStreamWaitEvent(device.side, device.launched, cudaEventWaitDefault));
  for (std::span<const std::byte> part : parts) {
    check(cudaMemcpyAsync(to, part.data(), part.size(), cudaMemcpyDefault, device.side));
    to += part.size();
  }
  check(cudaEventRecord(device.copied, device.side));
}

/// Waits for copies. A graph has the event itself, and waits for what it was recorded after when
/// the graph is launched. (Nothing waits for an event that was never recorded.)
void join_copies(Stream& stream) {
  const Stream::Pool& device = stream.device();
  if (device.mode == Mode::update) return;
  check(cudaStreamWaitEvent(
      device.raw, device.copied,
      device.mode == Mode::record ? cudaEventWaitExternal : cudaEventWaitDefault));
}

void wait_for_copies(Stream& stream) { check(cudaEventSynchronize(stream.device().copied)); }

namespace {

/// In a recording, the lane becomes a part of the graph here, and ends in join().
void copy_in_lane(Stream& stream, const Stream::Pool::Lane& lane, std::byte* to,
                  const std::byte* from, std::size_t bytes, cudaMemcpyKind kind) {
  const Stream::Pool& device = stream.device();
  if (device.mode == Mode::update || bytes == 0) return;
  check(cudaEventRecord(lane.from, device.raw));
  check(cudaStreamWaitEvent(lane.raw, lane.from, cudaEventWaitDefault));
  check(cudaMemcpyAsync(to, from, bytes, kind, lane.raw));
  check(cudaEventRecord(lane.end, lane.raw));
}
void join(Stream& stream, const Stream::Pool::Lane& lane) {
  const Stream::Pool& device = stream.device();
  if (device.mode == Mode::update) return;
  check(cudaStreamWaitEvent(device.raw, lane.end, cudaEventWaitDefault));
}

}  // namespace

void fetch_beside(Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes) {
  copy_in_lane(stream, stream.device().fetches, to, from, bytes, cudaMemcpyHostToDevice);
}
void store_beside(Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes) {
  copy_in_lane(stream, stream.device().stores, to, from, bytes, cudaMemcpyDeviceToHost);
}
void join_fetches(Stream& stream) { join(stream, stream.device().fetches); }
void join_stores(Stream& stream) { join(stream, stream.device().stores); }

void copy_within(Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes) {
  const Stream::Pool& device = stream.device();
  if (device.mode == Mode::update) return;
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, device.raw));
}

void clear(Stream& stream, std::byte* at, std::size_t bytes) {
  const Stream::Pool& device = stream.device();
  if (device.mode == Mode::update) return;
  check(cudaMemsetAsync(at, 0, bytes, device.raw));
}

namespace {

/// Captures what the call launches.
void capture(Stream::Pool& device, CapturedGraph& to, void (*call)(const void*, int),
             const void* body) {
  check(cudaStreamBeginCapture(device.raw, cudaStreamCaptureModeThreadLocal));
  call(body, 0);
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(device.raw, &graph));
  check(cudaGraphInstantiate(&to.ready, graph, 0));
  check(cudaGraphDestroy(graph));
}

/// The state of a capture: its graph, and what the next node comes after.
struct Capture {
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* before = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  std::size_t count = 0;

  explicit Capture(cudaStream_t raw) {
    cudaStreamCaptureStatus status;
    check(cudaStreamGetCaptureInfo(raw, &status, nullptr, &graph, &before, &edges, &count));
  }
};

/// Adds a node to the capture that runs a graph where *condition is not 0, and returns that graph,
/// which is empty.
cudaGraph_t add_condition(cudaStream_t raw, const std::int32_t* condition) {
  cudaGraphConditionalHandle handle;
  check(cudaGraphConditionalHandleCreate(&handle, Capture(raw).graph, 0, 0));
  set_condition<<<1, 1, 0, raw>>>(handle, condition);
  const Capture at(raw);
  cudaGraphNodeParams node_is{};
  node_is.type = cudaGraphNodeTypeConditional;
  node_is.conditional.handle = handle;
  node_is.conditional.type = cudaGraphCondTypeIf;
  node_is.conditional.size = 1;
  cudaGraphNode_t node;
  check(cudaGraphAddNode(&node, at.graph, at.before, at.edges, at.count, &node_is));
  check(cudaStreamUpdateCaptureDependencies(raw, &node, nullptr, 1,
                                            cudaStreamSetCaptureDependencies));
  return node_is.conditional.phGraph_out[0];
}

}  // namespace

void Stream::run_if(const std::int32_t* condition, Call call, const void* body) {
  Pool& device = *pool;
  join_copies(*this);
  if (device.mode == Mode::update) return call(body, 0);
  if (device.mode == Mode::direct) {
    std::int32_t value = 0;
    copy_out(*this, &value, reinterpret_cast<const std::byte*>(condition), sizeof value);
    return value ? call(body, 0) : void();
  }
  cudaGraph_t graph = add_condition(device.raw, condition);
  check(cudaStreamBeginCaptureToGraph(device.body, graph, nullptr, nullptr, 0,
                                      cudaStreamCaptureModeThreadLocal));
  std::swap(device.raw, device.body);
  call(body, 0);
  std::swap(device.raw, device.body);
  check(cudaStreamEndCapture(device.body, nullptr));
}

void Stream::run_as_graph(ShapeCall ask, const void* shape, Call call, const void* body) {
  Pool& device = *pool;
  std::vector<std::int64_t> numbers;
  ask(shape, numbers);
  check(cudaStreamSynchronize(device.raw));  // the last run still reads its arguments
  device.arguments.begin();
  CapturedGraph* graph = device.graphs.find(numbers);
  // A new graph, too, gets its arguments before it is captured: a capture cannot take memory.
  device.mode = Mode::update;
  call(body, 0);
  if (!graph) {
    device.arguments.begin();
    device.mode = Mode::record;
    capture(device, *(graph = &device.graphs.add(numbers)), call, body);
  }
  device.mode = Mode::direct;
  device.arguments.send(*this);
  check(cudaGraphLaunch(graph->ready, device.raw));
}

}  // namespace sinter::kernel
