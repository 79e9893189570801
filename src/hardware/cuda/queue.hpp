// SPDX-License-Identifier: Apache-2.0
// What the host does with a stream on CUDA beside launching kernels: memory and copies. Implemented
// for a card (stream.cu) and for the emulated device (emulated_stream.cpp).
#pragma once
#include <cstddef>
#include <span>

#include "sinter/hardware/stream.hpp"

namespace sinter::kernel {

/// Memory of the device, zeros; null if there is not so much.
std::byte* take_memory(std::size_t bytes);
void give_memory(std::byte* at);
/// Memory of the host that the device copies from and to beside other work; null if there is not so
/// much.
std::byte* take_host_memory(std::size_t bytes);
void give_host_memory(std::byte* at);

/// Copies to or from the device once all earlier work of the stream is done, and waits for that.
/// requires  the stream is not recording or telling
void copy_in(Stream& stream, std::byte* to, const void* from, std::size_t bytes);
void copy_out(Stream& stream, void* to, const std::byte* from, std::size_t bytes);
/// Copies from memory of take_host_memory() to the device, in the order of the stream.
/// requires  the stream is not recording or telling; the host leaves `from` as it is until it has
///           waited for the stream
void send_bytes(Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes);
/// Begins to copy parts of the device's memory, or of take_host_memory(), one behind the other, to memory of
/// take_host_memory(), once all earlier work of the stream is done; later work does not wait.
/// requires  the stream is not recording or telling
void copy_beside(Stream& stream, std::byte* to, std::span<const std::span<const std::byte>> parts);
/// Work that comes to the stream from now on begins once all such copies are made. In a graph, these
/// are the ones that were begun before each of its runs.
/// requires  it is not called within only_if()
void join_copies(Stream& stream);
/// Waits until all such copies are made. Any thread that has opened the device may call it.
void wait_for_copies(Stream& stream);

/// Begins to copy from memory of take_host_memory() to the device, or back, once all earlier work of the
/// stream is done; later work does not wait. Those to the device are made in their order, and so are those
/// back, but neither waits for the other.
/// requires  before a recording ends, and before the memory is given back, they are waited for
void fetch_beside(Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes);
void store_beside(Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes);
/// Work that comes to the stream from now on begins once all such copies to the device are made, or all back.
/// requires  it is not called within only_if()
void join_fetches(Stream& stream);
void join_stores(Stream& stream);

/// Copies within the device, in the order of the stream.
void copy_within(Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes);
/// Sets bytes of the device to zero, in the order of the stream.
void clear(Stream& stream, std::byte* at, std::size_t bytes);

}  // namespace sinter::kernel
