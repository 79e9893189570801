// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/comm/communicator.hpp"
#include "sinter/program/model.hpp"

namespace sinter {

class Machine;

/// A communicator through which a machine's instructions speak, and which refuses what their kinds do not
/// state (Kind::traffic): the proof that ranks fit together is about what is stated. Between instructions
/// it lets everything pass.
class TrafficCheck final : public Communicator {
  Communicator& ranks_;
  const Machine& machine_;
  const Instruction* instruction_ = nullptr;  // at work
  TrafficList stated_;                        // by it
  std::size_t next_ = 0;                      // so much of that has come

 public:
  /// requires  both outlive it
  TrafficCheck(Communicator& ranks, const Machine& machine);

  /// Begins an instruction.
  void begin(const Instruction& instruction, int iteration, int iterations);
  /// Ends it.
  /// throws    Error if it has not done all that its kind states
  void end();

  int rank() const override { return ranks_.rank(); }
  int ranks() const override { return ranks_.ranks(); }
  /// throws    Error if the instruction at work does not state it; so do all that follow
  void start_sum(float* data, std::int64_t count) override { sum_of(data, count); }
  void start_sum(double* data, std::int64_t count) override { sum_of(data, count); }
  void start_sum(BFloat16* data, std::int64_t count) override { sum_of(data, count); }
  void start_sum(Float16* data, std::int64_t count) override { sum_of(data, count); }
  void start_reduce_scatter(float* data, std::int64_t count) override { scatter(data, count); }
  void start_reduce_scatter(double* data, std::int64_t count) override { scatter(data, count); }
  void start_reduce_scatter(BFloat16* data, std::int64_t count) override { scatter(data, count); }
  void start_reduce_scatter(Float16* data, std::int64_t count) override { scatter(data, count); }
  void start_all_gather(float* data, std::int64_t count) override { gather(data, count); }
  void start_all_gather(double* data, std::int64_t count) override { gather(data, count); }
  void start_all_gather(BFloat16* data, std::int64_t count) override { gather(data, count); }
  void start_all_gather(Float16* data, std::int64_t count) override { gather(data, count); }
  void wait(const void* data) override;
  void sum(double* values, int count) override;
  void abort() noexcept override { ranks_.abort(); }

 private:
  template <class T>
  void sum_of(T* data, std::int64_t count);
  template <class T>
  void scatter(T* data, std::int64_t count);
  template <class T>
  void gather(T* data, std::int64_t count);
  template <class T>
  void take_start(Operation operation, const T* data, std::int64_t count);
  const Traffic* take(Traffic::Does does, const void* data);
  const void* address(const Traffic& traffic) const;
  [[noreturn]] void refuse(const std::string& what) const;
};

}  // namespace sinter
