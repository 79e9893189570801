// What ranks say to each other.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "sinter/kernels/bfloat16.hpp"
#include "sinter/kernels/float16.hpp"

namespace sinter {

/// One rank's end of a communicator over several ranks. All ranks must start the same transfers, of
/// the same sizes, in the same order. Sums are taken in the order of the ranks, so every rank gets
/// the same bits.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// Starts to replace data[0, count) by its sum over the ranks. Nobody may touch data until
  /// wait(data) has returned.
  virtual void start_sum(float* data, std::int64_t count) = 0;
  virtual void start_sum(double* data, std::int64_t count) = 0;
  /// Summed in fp32 and rounded once.
  virtual void start_sum(BFloat16* data, std::int64_t count) = 0;
  virtual void start_sum(Float16* data, std::int64_t count) = 0;
  /// Waits for the transfer that was started on this address.
  /// throws  Error where another rank has failed: there is no result
  virtual void wait(const void* data) = 0;
  /// The sum over the ranks; waits for them.
  virtual double sum(double value) = 0;
  /// Tells all ranks that this one cannot go on: whoever waits, now or later, gets an Error.
  virtual void abort() noexcept = 0;
};

/// A rank of one: all sums are what they were.
std::unique_ptr<Communicator> single_rank();

/// Ranks that are threads of this process, over shared memory. Transfers run beside the
/// computation, on a thread of each rank.
std::vector<std::unique_ptr<Communicator>> thread_ranks(int ranks);

}  // namespace sinter
