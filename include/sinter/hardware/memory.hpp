// SPDX-License-Identifier: Apache-2.0
// The memory of the device that a binary computes on, and transfers between it and the host. All
// other code that touches device memory is a kernel. Implemented in src/hardware/<device>.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sinter/base/element.hpp"

namespace sinter {

namespace kernel {
class Stream;
}

namespace detail {
/// Memory of the device, all zeros at first.
class DeviceMemory {
 public:
  /// throws    Error if the device does not have so much memory
  explicit DeviceMemory(std::int64_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }  ///< all of it

 private:
  std::span<std::byte> bytes_;
};

/// What host code does with device memory, see OnHost.
enum class Access : std::uint8_t { read, write };

/// A part of the device's memory that host code may use as long as this object lives. The host sees
/// what all earlier work of the stream has left in it. With Access::write, destruction passes the
/// host's changes to the device. (On the CPU it is the memory itself; elsewhere, a copy.)
class [[nodiscard]] OnHost {
 public:
  /// Waits for all earlier work of the stream.
  OnHost(kernel::Stream& stream, std::byte* at, std::int64_t bytes, Access access);
  ~OnHost();
  OnHost(OnHost&& other) noexcept;  ///< Takes over the other's access.
  OnHost& operator=(OnHost&&) = delete;

  /// The bytes, for the host.
  std::byte* data() const { return data_; }
  /// The bytes as elements T.
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::byte* data_;
};

/// A copy of parts of the device's memory in host memory, made beside the stream's work.
/// Evaluations go on meanwhile, and so do steps, up to where they would change those parts. (On the
/// CPU it is made at once.)
class BackgroundCopy {
 public:
  /// throws    std::bad_alloc if the host does not have so much memory for copies
  explicit BackgroundCopy(std::size_t bytes);
  /// Waits for the copy.
  ~BackgroundCopy();
  BackgroundCopy(const BackgroundCopy&) = delete;
  BackgroundCopy& operator=(const BackgroundCopy&) = delete;

  /// Begins to copy parts of the device's memory, one behind the other, as all earlier work of the
  /// stream leaves them. Waits for the copy before this one.
  /// requires  the parts have no more bytes than this object. Work that changes them afterwards
  ///           follows order_after_copies() or is a write of an OnHost; finish_copies() is called
  ///           before their memory is freed
  void begin(kernel::Stream& stream, std::span<const std::span<const std::byte>> parts);
  /// Waits until the copy is made. Any thread that computes on the device may call it
  /// (RecipeView::open_device).
  /// throws    Error if the device has failed
  void wait() const;
  /// All room for copies; it begins with the copy once that is made.
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
  std::shared_ptr<kernel::Stream> stream_;  // of a copy that may not be made yet
};

/// Makes later work of the stream begin only after all background copies begun on it are made. In a
/// launch graph, these are the copies begun before each of its runs.
/// requires  it is not called within Stream::only_if
void order_after_copies(kernel::Stream& stream);
/// Waits until all background copies begun on the stream are made, or the device has failed.
void finish_copies(kernel::Stream& stream) noexcept;

/// Copies from one part of the device's memory to another.
/// requires  the two do not overlap
void copy_on_device(kernel::Stream& stream, const std::byte* from, std::byte* to,
                    std::int64_t bytes);
/// Sets bytes of the device to zero.
void clear_on_device(kernel::Stream& stream, std::byte* at, std::int64_t bytes);
/// Copies ids from the host to the device, and sets the `padding` ids behind them to `value`.
void put_ids(kernel::Stream& stream, std::span<const std::int32_t> ids, std::byte* to,
             std::int64_t padding, std::int32_t value);
/// Copies numbers from the host to the device, rounded to the type `element`, and sets the
/// `padding` elements behind them to zero.
/// throws    Error if the element is an integer
void put_values(kernel::Stream& stream, std::span<const float> values, std::byte* to,
                Element element, std::int64_t padding);
/// Lets kernels that are launched from now on read ids of the host, and returns their address: on
/// the CPU that of `ids`, else `to`.
/// requires  the ids do not change as long as such kernels run
const std::int32_t* show_ids(kernel::Stream& stream, std::span<const std::int32_t> ids,
                             std::byte* to);
}  // namespace detail

}  // namespace sinter
