// SPDX-License-Identifier: Apache-2.0
// A launch graph on the emulated device. It knows what it was recorded with, and so notices a
// run that differs in what is no Argument of a kernel.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>

#include "emulated/device/emulated_memory.hpp"
#include "emulated/device/emulation.hpp"

namespace sinter::kernel {

template <class T>
struct Argument;

namespace emulated {

/// What is the same in each run of a graph: the grid, the kernel, and its arguments, but for the
/// values of its Arguments. Pointers must be null or into the device's memory: where they are not, the
/// process ends with a message. (Those in structures are not looked at.)
class Facts {
 public:
  template <class... T>
  void add(const T&... values) {
    (add_one(values), ...);
  }
  bool operator==(const Facts&) const = default;

 private:
  template <class T>
  void add_one(const Argument<T>& argument) {
    if (!argument.at)
      refuse(
          "a graph with an Argument that is not in the device's memory: use "
          "Stream::Pool::argument()");
    add_one(argument.at);
  }
  template <class... P>
  void add_one(void (*kernel)(P...)) {
    add_bytes(&kernel, sizeof kernel);
  }
  template <class T>
  void add_one(const T& value) {
    static_assert(
        std::is_scalar_v<T> || std::has_unique_object_representations_v<T>,
        "a structure with gaps or floating point numbers is to be an Argument, or given to the "
        "kernel field by field");
    if constexpr (std::is_pointer_v<T>) {
      if (value && !on_device(value))
        refuse("a graph with a kernel that is given memory of the host");
      add_one(reinterpret_cast<std::uintptr_t>(value));
    } else {
      add_bytes(&value, sizeof value);
    }
  }
  void add_bytes(const void* at, std::size_t count) {
    const auto* begin = static_cast<const std::byte*>(at);
    bytes.insert(bytes.end(), begin, begin + count);
  }

  std::vector<std::byte> bytes;
};

class LaunchGraph {
 public:
  using Node = std::function<void()>;

  /// A launch comes: it is recorded, or compared with the one that was recorded at this place. Ends
  /// the process with a message if they differ.
  void pass(bool record, const Facts& facts, const Node& node);
  /// The same for nodes that run only where *condition is not 0 by then; `work` passes them.
  /// requires  a pass_wait() comes before it
  void pass_if(bool record, const std::int32_t* condition, const Node& work);
  /// The same for a node that waits for what other streams do. Ends the process with a message if it
  /// is to be among nodes that hang on a condition: there a card's graph cannot have one.
  void pass_wait(bool record, const Node& node);
  /// All launches have come. Ends the process with a message if there were more the time before.
  void end();
  /// Runs all nodes in order.
  void run() const;

 private:
  std::vector<Facts> recorded;  // of all nodes, in the order in which they come
  std::size_t passed = 0;
  std::vector<Node> nodes;
  std::vector<Node>* recording = &nodes;
};

/// Whether *condition, in the device's memory, is not 0.
bool holds(const std::int32_t* condition);

}  // namespace emulated
}  // namespace sinter::kernel
