// SPDX-License-Identifier: Apache-2.0
// The stream of the emulated device: launches run as they come.
#include <new>

#include "emulated/device/emulated_memory.hpp"
#include "emulated/device/emulated_submit.hpp"
#include "emulated/device/graph_counts.hpp"
#include "hardware/cuda/queue.hpp"

namespace sinter::kernel {
namespace {

/// SINTER_TEST_ORDER, a number: the order of threads of streams of one thread; else 0.
int first_order() {
  const char* number = std::getenv("SINTER_TEST_ORDER");
  return number ? std::max(std::atoi(number), 0) : 0;
}

thread_local bool captures = false;  // a graph that will be kept is recorded by this thread
void refuse_in_capture() {
  if (captures) emulated::refuse("memory that is taken while a graph is recorded");
}

}  // namespace

int max_shared_bytes() { return 227 << 10; }

Stream::Pool::Pool() : scratch(take_memory(scratch_bytes)) {
  if (!scratch) throw std::bad_alloc();
}

Stream::Pool::~Pool() { give_memory(scratch); }

/// A card has no threads of the host. What a test compares on 1, 2 and 3 threads, it compares here in
/// as many orders of the device's.
Stream::Stream(int threads) : pool(std::make_shared<Pool>()) {
  pool->order = (first_order() + std::max(threads, 1) - 1) % emulated::orders;
}
Stream::~Stream() = default;

void Stream::run_if(const std::int32_t* condition, Call call, const void* body) {
  join_copies(*this);
  if (pool->mode != Mode::direct)
    return pool->graph->pass_if(pool->mode == Mode::record, condition, [=] { call(body, 0); });
  if (emulated::holds(condition)) call(body, 0);
}

std::byte* take_memory(std::size_t bytes) {
  refuse_in_capture();
  return emulated::take(bytes);
}
void give_memory(std::byte* at) { emulated::give(at); }
std::byte* take_host_memory(std::size_t bytes) {
  refuse_in_capture();
  return static_cast<std::byte*>(std::calloc(bytes, 1));
}
void give_host_memory(std::byte* at) { std::free(at); }

namespace {

void copy_now(const Stream& stream, void* to, const void* from, std::size_t bytes) {
  if (stream.device().mode != Mode::direct)
    emulated::refuse("a copy to or from the host in a graph");
  const emulated::Opened memory;
  std::memcpy(to, from, bytes);
}

}  // namespace

void copy_in(Stream& stream, std::byte* to, const void* from, std::size_t bytes) {
  copy_now(stream, to, from, bytes);
}

void copy_out(Stream& stream, void* to, const std::byte* from, std::size_t bytes) {
  copy_now(stream, to, from, bytes);
}

void send_bytes(Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes) {
  copy_now(stream, to, from, bytes);
}

void copy_beside(Stream& stream, std::byte* to, std::span<const std::span<const std::byte>> parts) {
  if (stream.device().mode != Mode::direct)
    emulated::refuse("a copy to or from the host in a graph");
  for (std::span<const std::byte> part : parts) {
    stream.device().copies.begin({part, to});
    to += part.size();
  }
}

void join_copies(Stream& stream) {
  Stream::Pool& device = stream.device();
  const auto finish = [&copies = device.copies] { copies.finish(); };
  if (device.mode == Mode::direct) return finish();
  device.graph->pass_wait(device.mode == Mode::record, finish);
}

void wait_for_copies(Stream& stream) { stream.device().copies.finish(); }

namespace {

/// As late as it may be: where somebody waits.
void copy_late(Stream& stream, emulated::LateCopies& lane, std::byte* to, const std::byte* from,
               std::size_t bytes, const std::byte* on_device) {
  if (bytes == 0) return;
  const auto begin = [&lane, to, from, bytes] { lane.begin({{from, bytes}, to}); };
  emulated::submit(stream, begin, on_device, bytes);
}
void join(Stream& stream, emulated::LateCopies& lane) {
  emulated::submit(stream, [&lane] { lane.finish(); });
}

}  // namespace

void fetch_beside(Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes) {
  copy_late(stream, stream.device().fetches, to, from, bytes, to);
}
void store_beside(Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes) {
  copy_late(stream, stream.device().stores, to, from, bytes, from);
}
void join_fetches(Stream& stream) { join(stream, stream.device().fetches); }
void join_stores(Stream& stream) { join(stream, stream.device().stores); }

void copy_within(Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto copy = [=] { std::memcpy(to, from, bytes); };
  emulated::submit(stream, copy, to, from, bytes);
}

void clear(Stream& stream, std::byte* at, std::size_t bytes) {
  const auto zero = [=] { std::memset(at, 0, bytes); };
  emulated::submit(stream, zero, at, bytes);
}

void Stream::run_as_graph(ShapeCall ask, const void* shape, Call call, const void* body) {
  std::vector<std::int64_t> numbers;
  ask(shape, numbers);
  pool->arguments.begin();
  pool->graph = pool->graphs.find(numbers);
  if (pool->graph) {
    pool->mode = Mode::update;
    call(body, 0);
    pool->graph->end();
  } else {  // twice, as on a card, where memory for arguments is taken the first time
    pool->mode = Mode::record;
    emulated::LaunchGraph nobodys;
    pool->graph = &nobodys;
    call(body, 0);
    pool->arguments.begin();
    pool->graph = &pool->graphs.add(numbers);
    captures = true;
    call(body, 0);
    captures = false;
    ++emulated::graph_counts.recorded;
  }
  pool->mode = Mode::direct;
  pool->arguments.send(*this);
  pool->graph->run();
}

}  // namespace sinter::kernel
