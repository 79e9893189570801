// SPDX-License-Identifier: Apache-2.0
// What ranks say to each other.
#pragma once
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/element.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/comm/operation.hpp"

namespace sinter {

/// Where the part of a rank begins of `count` elements of which each rank has a part; behind the last
/// rank's it is `count`. The parts are equal where the ranks divide the count, and otherwise differ by
/// one element at most.
constexpr std::int64_t part_begin(std::int64_t count, int rank, int ranks) {
  return count * rank / ranks;
}

/// A transfer of an array, in which all ranks take part, or two.
struct Transfer {
  Operation operation;  ///< what is done; all but a barrier
  void* data;           ///< of this rank, where its device has it
  std::int64_t count;   ///< elements of the array
  Element element;      ///< their type, of real numbers
  int peer = -1;        ///< of broadcast and reduce: the root, from which, or to which, it goes; of
                        ///< send and receive: the other rank
};

/// One rank's end of a communicator over several ranks. Every rank gets the same bits of a sum, and the
/// same again of the same numbers; over threads and over processes, of one host or of several, sums are
/// taken in the order of the ranks.
///
/// Starting a transfer waits for nothing. What a rank has started runs in that order, one after the other;
/// but sends and receives that it starts one after the other, with no other transfer and no wait between
/// them, are a group, and those of a group run beside each other. So two ranks may both start to send to
/// each other, then both start to receive, and then wait. What goes from one rank to another comes in the
/// order in which both have started it. A group may not begin before the first wait or other transfer
/// after it, and whoever waits for one of it may wait for all. (Ranks on the CPU do more: there a send and
/// its receive run as soon as both are started and all transfers of other kinds before them have run. No
/// program may build on that: the simulation in proof/simulate.hpp does not know it.)
/// requires  all ranks start the same transfers of all ranks, of the same sizes, in the same order, and
///           between the same two of them as many sends from one rank to another as that starts receives
///           from it. The n-th of those fit: they have the same count and the same element
class Communicator {
 public:
  virtual ~Communicator() = default;
  /// The number of this rank, from 0.
  virtual int rank() const = 0;
  /// How many ranks there are.
  virtual int ranks() const = 0;
  /// Starts a transfer, which is what one of the functions below says.
  /// requires  nobody touches the data until wait(data) has returned; several sends may read the same
  /// throws    ArgumentError if the operation is none of those, the elements are integers, the root or the
  ///           other rank is no rank, the other rank is this one, or the parts of an all-to-all are not
  ///           equal; so do the functions below
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
  /// Starts to exchange the equal parts of data[0, count), of which each rank has one: what this rank has
  /// in the part of another goes there, and what that has in this one's comes in its place.
  template <class T>
    requires(!std::integral<T>)
  void start_all_to_all(T* data, std::int64_t count) {
    start({Operation::all_to_all, data, count, element_of<T>});
  }
  /// Starts to send data[0, count) to the rank `peer`, which receives it.
  template <class T>
    requires(!std::integral<T>)
  void start_send(const T* data, std::int64_t count, int peer) {
    start({Operation::send, const_cast<T*>(data), count, element_of<T>, peer});
  }
  /// Starts to receive data[0, count) from the rank `peer`, which sends it.
  template <class T>
    requires(!std::integral<T>)
  void start_receive(T* data, std::int64_t count, int peer) {
    start({Operation::receive, data, count, element_of<T>, peer});
  }
  /// Waits for the transfers that were started on this address. (On a card, its stream does.)
  /// throws    RankError if another rank has failed, or ranks do not fit together: there is no result
  virtual void wait(const void* data) = 0;
  /// Replaces each of a few values in the device's memory by its sum over the ranks, when all have
  /// come. It is a transfer of all ranks that is waited for.
  /// requires  1 <= count <= most_values
  /// throws    RankError if another rank has failed
  virtual void sum(double* values, int count = 1) = 0;
  static constexpr int most_values = 32;  ///< of one call of sum()
  /// Waits until all ranks have come. It is a transfer of all ranks. (On a card, its stream waits.)
  /// throws    RankError if another rank has failed
  virtual void barrier();
  /// Makes this rank's end of a communicator of some of the ranks, numbered in the order in which `members`
  /// names them: those of an axis of a mesh (comm/mesh.hpp). It is a transfer of all ranks that is waited for,
  /// in which each gives the group that it is in: so groups divide the ranks. Transfers of several
  /// communicators run beside each other.
  /// requires  all members of a group give the same list; this end outlives that of the group
  /// throws    ArgumentError if a member is no rank, or there twice, or none is this one; Error or RankError
  ///           if members do not come
  [[nodiscard]] std::unique_ptr<Communicator> group(std::span<const int> members);
  /// Tells all ranks that this one cannot go on, as its end does when it is destroyed: whoever waits, now or
  /// later, gets an Error. (Ranks on the CPU that send to each other, and not to this one, go on as long as
  /// something moves in each second.)
  virtual void abort() noexcept = 0;

 private:
  /// Starts a transfer that has been checked.
  virtual void start_transfer(const Transfer& transfer) = 0;
  /// Makes the end of `members[rank]`, which is this one, of a group that has been checked.
  virtual std::unique_ptr<Communicator> make_group(std::span<const int> members, int rank) = 0;
};

/// Makes a communicator of one rank, in which all sums are what they were.
[[nodiscard]] std::unique_ptr<Communicator> single_rank();

/// Makes one end for each of so many ranks, which are threads of this process and share memory.
/// Transfers run beside the computation, on a thread of each rank.
/// throws    ArgumentError if there is not at least one rank
[[nodiscard]] std::vector<std::unique_ptr<Communicator>> thread_ranks(int ranks);

}  // namespace sinter
