// SPDX-License-Identifier: Apache-2.0
// The stream of a card.
#include <new>
#include <utility>

#include "device/cuda/launch.hpp"
#include "device/cuda/queue.hpp"

namespace sinter::kernel {
namespace {

/// A card that fails leaves nothing that a run could go on with.
void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "Sinter: CUDA says: %s.\n", cudaGetErrorString(error));
  std::abort();
}

__global__ void set_condition(cudaGraphConditionalHandle handle, const std::int32_t* condition) {
  cudaGraphSetConditional(handle, *condition != 0);
}

}  // namespace

void check_launch() { check(cudaGetLastError()); }

Stream::Pool::Pool()
    : told_on_device(take_memory(told_bytes)), scratch(take_memory(scratch_bytes)) {
  if (!told_on_device || !scratch) throw std::bad_alloc();
  check(cudaMallocHost(&told_on_host, told_bytes));
  check(cudaStreamCreateWithFlags(&raw, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&body, cudaStreamNonBlocking));
}

Stream::Pool::~Pool() {
  check(cudaStreamSynchronize(raw));
  if (graph) check(cudaGraphExecDestroy(graph));
  check(cudaStreamDestroy(raw));
  check(cudaStreamDestroy(body));
  check(cudaFreeHost(told_on_host));
  give_memory(told_on_device);
  give_memory(scratch);
}

Stream::Stream(int) : pool(std::make_shared<Pool>()) {}
Stream::~Stream() = default;

std::byte* take_memory(std::size_t bytes) {
  void* at = nullptr;
  const cudaError_t error = cudaMalloc(&at, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // it is told, and not an error of later calls
    return nullptr;
  }
  check(error);
  check(cudaMemset(at, 0, bytes));
  check(cudaDeviceSynchronize());  // streams of ours do not wait for the one of cudaMemset
  return static_cast<std::byte*>(at);
}
void give_memory(std::byte* at) { check(cudaFree(at)); }

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

void copy_within(Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes) {
  const Stream::Pool& device = stream.device();
  if (device.mode == Mode::tell) return;
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, device.raw));
}

void clear(Stream& stream, std::byte* at, std::size_t bytes) {
  const Stream::Pool& device = stream.device();
  if (device.mode == Mode::tell) return;
  check(cudaMemsetAsync(at, 0, bytes, device.raw));
}

namespace {

/// Captures what the calls launch.
cudaGraphExec_t capture(Stream::Pool& device, const std::function<void()>& work) {
  check(cudaStreamBeginCapture(device.raw, cudaStreamCaptureModeThreadLocal));
  work();
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(device.raw, &graph));
  cudaGraphExec_t ready = nullptr;
  check(cudaGraphInstantiate(&ready, graph, 0));
  check(cudaGraphDestroy(graph));
  return ready;
}

/// Where a capture is: its graph, and what the next node comes after.
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
  if (device.mode == Mode::tell) return call(body, 0);
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

void run_graph(Stream& stream, bool again, const std::function<void()>& work) {
  Stream::Pool& device = stream.device();
  check(cudaStreamSynchronize(device.raw));  // the last run still reads what it was told
  device.told = 0;
  device.mode = again ? Mode::tell : Mode::record;
  if (again) {
    work();
  } else {
    if (device.graph) check(cudaGraphExecDestroy(device.graph));
    device.graph = capture(device, work);
  }
  device.mode = Mode::direct;
  check(cudaMemcpyAsync(device.told_on_device, device.told_on_host, device.told,
                        cudaMemcpyHostToDevice, device.raw));
  check(cudaGraphLaunch(device.graph, device.raw));
}

}  // namespace sinter::kernel
