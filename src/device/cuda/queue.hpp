// SPDX-License-Identifier: Apache-2.0
// What the host does with a stream on CUDA beside launching kernels: memory, copies, and graphs.
// Implemented for a card (stream.cu) and for the emulated device (emulated_stream.cpp).
#pragma once
#include <cstddef>
#include <functional>

#include "sinter/kernels/stream.hpp"

namespace sinter::kernel {

/// Memory of the device, zeros; null if there is not so much.
std::byte* take_memory(std::size_t bytes);
void give_memory(std::byte* at);

/// Copies to or from the device once all earlier work of the stream is done, and waits for that.
/// requires  the stream is not recording or telling
void copy_in(Stream& stream, std::byte* to, const void* from, std::size_t bytes);
void copy_out(Stream& stream, void* to, const std::byte* from, std::size_t bytes);
/// Copies within the device, in the order of the stream.
void copy_within(Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes);
/// Sets bytes of the device to zero, in the order of the stream.
void clear(Stream& stream, std::byte* at, std::size_t bytes);

/// Makes a graph of what `work` launches on the stream, and launches the graph. With `again`, `work`
/// launches what it did in the last call, on the same memory: then the graph of that call is
/// launched again, and only what `work` tells its kernels (Told, launch.hpp) is new.
/// requires  work only launches kernels, copies within the device, and calls only_if
void run_graph(Stream& stream, bool again, const std::function<void()>& work);

}  // namespace sinter::kernel
