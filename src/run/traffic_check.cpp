// SPDX-License-Identifier: Apache-2.0
#include "run/traffic_check.hpp"

#include <string>

#include "comm/transfer_text.hpp"
#include "sinter/error.hpp"
#include "sinter/program/subject.hpp"
#include "sinter/run/machine.hpp"

namespace sinter::detail {

TrafficCheck::TrafficCheck(Communicator& ranks, const Machine& machine)
    : ranks_(ranks), machine_(machine) {
  // A step allocates nothing.
  stated_.reserve(2 * std::size_t(machine.model().count()) + machine.model().owned.size() + 8);
  touched_.reserve(8 * std::size_t(machine.model().count()) + 8);
}

void TrafficCheck::begin(const Bound& bound, int iteration, int iterations) {
  bound_ = &bound;
  next_ = 0;
  stated_.clear();
  touched_.clear();
  const Instruction& instruction = *bound.instruction;
  if (!instruction.kind->traffic) return;
  const OnRank on{rank(), ranks(), iteration, iterations};
  const Model& model = machine_.program_model();
  (*instruction.kind->traffic)(model, instruction, on, stated_);
  instruction.kind->touch(model, instruction, touched_);
}

void TrafficCheck::end() {
  if (next_ < stated_.size()) refuse("has not done all of it");
  bound_ = nullptr;
}

void TrafficCheck::wait(const void* data) {
  if (bound_ && !take(Traffic::waits, data)) refuse("waits for another transfer");
  ranks_.wait(data);
}

void TrafficCheck::sum(double* values, int count) {
  if (bound_) {
    const Traffic* stated = take(Traffic::both, values);
    if (!stated || stated->operation != Operation::all_reduce || stated->count != count ||
        stated->element != Element::f64)
      refuse("sums other numbers");
  }
  ranks_.sum(values, count);
}

void TrafficCheck::start_transfer(const Transfer& transfer) {
  if (bound_) {
    const Traffic* stated = take(Traffic::starts, transfer.data);
    if (!stated || stated->operation != transfer.operation || stated->count != transfer.count ||
        stated->element != transfer.element || stated->peer != transfer.peer)
      refuse("starts another transfer: " + transfer_text(transfer.operation, transfer.peer,
                                                         transfer.count,
                                                         bytes_of(transfer.element)));
  }
  ranks_.start(transfer);
}

void TrafficCheck::barrier() {
  if (bound_) {
    const bool is_next = next_ < stated_.size() && stated_[next_].operation == Operation::barrier;
    if (!is_next) refuse("waits for all ranks");
    ++next_;
  }
  ranks_.barrier();
}

/// Takes the next stated traffic. Returns null if it is other traffic.
const Traffic* TrafficCheck::take(Traffic::Does does, const void* data) {
  if (next_ == stated_.size()) return nullptr;
  const Traffic& next = stated_[next_++];
  return next.does == does && data == address(next) ? &next : nullptr;
}

const void* TrafficCheck::address(const Traffic& traffic) const {
  const Model& model = machine_.program_model();
  if (const std::byte* all = machine_.flat<std::byte>(traffic.space))
    return all + model.held_at(traffic.space, traffic.first) * bytes_of(traffic.element);
  // It comes and goes, unit by unit.
  for (std::size_t k = 0; k < touched_.size(); ++k) {
    const auto [use, space, unit] = touched_[k];
    if (space != traffic.space) continue;
    for (const bool decayed : {true, false})
      if (model.part(unit, decayed).has(traffic.first))
        return bound_->at[k] + model.in_unit(unit, traffic.first) * bytes_of(traffic.element);
  }
  return nullptr;
}

void TrafficCheck::refuse(const std::string& what) const {
  std::string stated;
  for (const Traffic& traffic : stated_) {
    const char* does[]{"start", "wait for", "run"};
    stated +=
        std::string(stated.empty() ? "" : ", ") + does[int(traffic.does)] + " " +
        transfer_text(traffic.operation, traffic.peer, traffic.count, bytes_of(traffic.element));
  }
  const Instruction& instruction = *bound_->instruction;
  const TextBuilder subject = subject_letters(machine_.program_model(), instruction);
  throw Error(
      "rank " + std::to_string(rank()) + " is in the instruction '" + instruction.kind->name +
      "' of " + std::string(subject.view()) + ", which " + what +
      ". Its kind states: " + (stated.empty() ? "nothing" : stated) +
      ". The proof that ranks do not wait for each other for ever is about what kinds state: "
      "let Kind::traffic and Kind::run do the same, in the same order.");
}

}  // namespace sinter::detail
