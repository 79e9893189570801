// SPDX-License-Identifier: Apache-2.0
// What ranks say to each other.
#pragma once
#include <concepts>
#include <cstdint>
#include <memory>
#include <vector>

#include "sinter/comm/operation.hpp"
#include "sinter/kernels/bfloat16.hpp"
#include "sinter/kernels/float16.hpp"
#include "sinter/layer/layer.hpp"

namespace sinter {

/// Where the part of a rank begins of `count` elements of which each rank has a part; behind the last
/// rank's it is `count`. The parts are equal where the ranks divide the count, and otherwise differ by
/// one element at most.
constexpr std::int64_t part_begin(std::int64_t count, int rank, int ranks) {
  return count * rank / ranks;
}

/// A transfer of an array, in which all ranks take part.
struct Transfer {
  Operation operation;  ///< all_reduce, reduce_scatter, all_gather, broadcast or reduce
  void* data;           ///< of this rank, where its device has it
  std::int64_t count;   ///< elements of the array
  Element element;      ///< their type, of real numbers
  int root = -1;        ///< of broadcast and reduce: the rank from which, or to which, it goes
};

/// One rank's end of a communicator over several ranks. Every rank gets the same bits of a sum, and the
/// same again of the same numbers; over threads and over processes, of one host or of several, sums are
/// taken in the order of the ranks.
/// requires  all ranks start the same transfers, of the same sizes, in the same order
class Communicator {
 public:
  virtual ~Communicator() = default;
  /// The number of this rank, from 0.
  virtual int rank() const = 0;
  /// How many ranks there are.
  virtual int ranks() const = 0;
  /// Starts a transfer, which is what one of the functions below says. Transfers run one after the other,
  /// in the order in which they are started.
  /// requires  nobody touches the data until wait(data) has returned
  /// throws    ArgumentError if the operation is none of those, the elements are integers, or the root is
  ///           no rank; so do the functions below
  void start(const Transfer& transfer);
  /// Starts to replace data[0, count) by its sum over the ranks. Narrow types are summed in fp32
  /// and rounded once (NCCL rounds each partial sum).
  template <class T>
    requires(!std::integral<T>)
  void start_sum(T* data, std::int64_t count) {
    start({Operation::all_reduce, data, count, element_of<T>});
  }
  /// Starts to replace this rank's part of data[0, count), which begins at part_begin(), by its sum over
  /// the ranks, with the bits that start_sum() gives it. What the other parts then hold is not said.
  template <class T>
    requires(!std::integral<T>)
  void start_reduce_scatter(T* data, std::int64_t count) {
    start({Operation::reduce_scatter, data, count, element_of<T>});
  }
  /// Starts to replace the parts of data[0, count) that are not this rank's by those of the ranks that
  /// have them.
  template <class T>
    requires(!std::integral<T>)
  void start_all_gather(T* data, std::int64_t count) {
    start({Operation::all_gather, data, count, element_of<T>});
  }
  /// Starts to replace data[0, count) by that of the rank `root`.
  template <class T>
    requires(!std::integral<T>)
  void start_broadcast(T* data, std::int64_t count, int root) {
    start({Operation::broadcast, data, count, element_of<T>, root});
  }
  /// Starts to replace data[0, count) of the rank `root` by its sum over the ranks, with the bits that
  /// start_sum() gives it (NCCL may add in another order). What the others then hold is not said.
  template <class T>
    requires(!std::integral<T>)
  void start_reduce(T* data, std::int64_t count, int root) {
    start({Operation::reduce, data, count, element_of<T>, root});
  }
  /// Waits for the transfer that was started on this address. (On a card, its stream does.)
  /// throws    RankError if another rank has failed: there is no result
  virtual void wait(const void* data) = 0;
  /// Replaces each of a few values in the device's memory by its sum over the ranks, when all have
  /// come.
  /// requires  1 <= count <= most_values
  /// throws    RankError if another rank has failed
  virtual void sum(double* values, int count = 1) = 0;
  static constexpr int most_values = 4;  ///< of one call of sum()
  /// Tells all ranks that this one cannot go on: whoever waits, now or later, gets an Error.
  virtual void abort() noexcept = 0;

 private:
  /// Starts a transfer that has been checked.
  virtual void start_transfer(const Transfer& transfer) = 0;
};

/// Makes a communicator of one rank, in which all sums are what they were.
[[nodiscard]] std::unique_ptr<Communicator> single_rank();

/// Makes one end for each of so many ranks, which are threads of this process and share memory.
/// Transfers run beside the computation, on a thread of each rank.
/// throws    ArgumentError if there is not at least one rank
[[nodiscard]] std::vector<std::unique_ptr<Communicator>> thread_ranks(int ranks);

}  // namespace sinter
