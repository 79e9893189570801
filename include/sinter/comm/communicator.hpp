// SPDX-License-Identifier: Apache-2.0
// Communication between ranks.
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

namespace detail {
/// Divides `count` elements into a part for each rank. Returns the index at which that of `rank`
/// begins; for `rank` = `ranks`, `count`. The parts are equal if `ranks` divides the count, else
/// differ by at most one element.
constexpr std::int64_t part_begin(std::int64_t count, int rank, int ranks) {
  return count * rank / ranks;
}

/// A transfer of an array between all ranks, or between two.
struct Transfer {
  Operation operation;  ///< any operation but a barrier
  void* data;           ///< array of this rank, in its device's memory
  std::int64_t count;   ///< elements of the array
  Element element;      ///< type of the elements, not an integer
  int peer = -1;        ///< for broadcast and reduce: the root, which is source or target; for send
                        ///< and receive: the other rank
};
}  // namespace detail

/// One rank's side of a communicator over several ranks. A sum has the same bits on every rank, and
/// again for the same numbers. Over threads and over processes, of one host or of several, sums are
/// taken in the order of the ranks.
///
/// Starting a transfer does not block. A rank's transfers run one after the other, in the order in
/// which it starts them. Sends and receives are an exception: those that a rank starts with no
/// other transfer and no wait between them are a group, and run concurrently. So two ranks may both
/// start to send to each other, then both start to receive, and then wait. Sends from one rank to
/// another match its receives in the order in which they are started. A group may begin as late as
/// the first wait or other transfer after it, and a wait for one of its transfers may wait for all.
/// (Ranks on the CPU do more: a send and its receive run as soon as both are started, and all
/// earlier transfers of other kinds have run. No program may rely on that, as the simulation in
/// proof/simulate.hpp does not.)
/// requires  all ranks start the same transfers of all ranks, of the same sizes, in the same order.
///           Between the same two of these, a rank starts as many sends to another rank as that one
///           starts receives from it. The n-th send and the n-th receive have the same count and
///           the same element
class Communicator {
 public:
  virtual ~Communicator() = default;
  /// The number of this rank, from 0.
  virtual int rank() const = 0;
  /// The number of ranks.
  virtual int ranks() const = 0;
  /// Starts the transfer described; the start_*() functions below are shorthands.
  /// requires  no code touches the data until wait(data) has returned; several sends may read one
  ///           array
  /// throws    ArgumentError if the operation is a barrier, the elements are integers, the root or
  ///           the other rank is no rank, the other rank is this one, or the parts of an all-to-all
  ///           are not equal; the functions below throw it, too
  void start(const detail::Transfer& transfer);
  /// Starts to replace data[0, count) by its sum over the ranks. Narrow types are summed in fp32
  /// and rounded once (NCCL rounds each partial sum).
  template <class T>
    requires(!std::integral<T>)
  void start_sum(T* data, std::int64_t count) {
    start({Operation::all_reduce, data, count, element_of<T>});
  }
  /// Starts to replace this rank's part of data[0, count), which begins at part_begin(), by its sum
  /// over the ranks, with the bits that start_sum() gives it. The content of other parts is then
  /// unspecified.
  template <class T>
    requires(!std::integral<T>)
  void start_reduce_scatter(T* data, std::int64_t count) {
    start({Operation::reduce_scatter, data, count, element_of<T>});
  }
  /// Starts to replace each other rank's part of data[0, count) by the content that the other rank
  /// has in it.
  template <class T>
    requires(!std::integral<T>)
  void start_all_gather(T* data, std::int64_t count) {
    start({Operation::all_gather, data, count, element_of<T>});
  }
  /// Starts to replace data[0, count) by its content on the rank `root`.
  template <class T>
    requires(!std::integral<T>)
  void start_broadcast(T* data, std::int64_t count, int root) {
    start({Operation::broadcast, data, count, element_of<T>, root});
  }
  /// Starts to replace data[0, count) on the rank `root` by its sum over the ranks, with the bits
  /// that start_sum() gives it (NCCL may add in another order). On other ranks it is then
  /// unspecified.
  template <class T>
    requires(!std::integral<T>)
  void start_reduce(T* data, std::int64_t count, int root) {
    start({Operation::reduce, data, count, element_of<T>, root});
  }
  /// Starts to exchange the equal parts of data[0, count), one for each rank. What this rank has in
  /// another rank's part goes to that rank; what that rank has in this rank's part replaces it.
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
  /// Waits for the transfers that were started on this address. (On a card, its stream waits.)
  /// throws    RankError if another rank has failed, or the ranks' transfers do not match; no
  ///           result then
  virtual void wait(const void* data) = 0;
  /// Replaces each of a few values in the device's memory by its sum over the ranks. It is a
  /// blocking transfer of all ranks.
  /// requires  1 <= count <= max_values
  /// throws    RankError if another rank has failed
  virtual void sum(double* values, int count = 1) = 0;
  static constexpr int max_values = 32;  ///< maximum count of sum()
  /// Waits until all ranks have called it. It is a transfer of all ranks. (On a card, its stream
  /// waits.)
  /// throws    RankError if another rank has failed
  virtual void barrier();
  /// Makes this rank's side of a communicator for a group of ranks, such as those along an axis of
  /// a mesh (comm/mesh.hpp). The group numbers its ranks in the order of `members`. This is a
  /// blocking transfer of all ranks, in which each names its own group: so the groups partition the
  /// ranks. Transfers of different communicators run concurrently.
  /// requires  all members of a group give the same list; this object outlives that of the group
  /// throws    ArgumentError if a member is no rank or is named twice, or this rank is not a
  ///           member; Error or RankError if members do not come
  [[nodiscard]] std::unique_ptr<Communicator> group(std::span<const int> members);
  /// Aborts the communicator for all ranks, as its destructor does: a wait of another rank, now or
  /// later, throws Error. (Ranks on the CPU that send only to each other, and not to this one,
  /// continue as long as data moves in each second.)
  virtual void abort() noexcept = 0;

 private:
  /// Starts a transfer that has been checked.
  virtual void start_transfer(const detail::Transfer& transfer) = 0;
  /// Makes the communicator of a group that has been checked, for `members[rank]`, which is this
  /// rank.
  virtual std::unique_ptr<Communicator> make_group(std::span<const int> members, int rank) = 0;
};

/// Makes a communicator of one rank, in which a sum changes nothing.
[[nodiscard]] std::unique_ptr<Communicator> single_rank();

/// Makes a communicator's side for each of `ranks` ranks, which are threads of this process and
/// share memory. Transfers run concurrently with the computation, on a thread of each rank.
/// throws    ArgumentError if ranks < 1
[[nodiscard]] std::vector<std::unique_ptr<Communicator>> thread_ranks(int ranks);

}  // namespace sinter
