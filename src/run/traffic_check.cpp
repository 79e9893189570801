// SPDX-License-Identifier: Apache-2.0
#include "run/traffic_check.hpp"

#include <string>

#include "sinter/error.hpp"
#include "sinter/program/subject.hpp"
#include "sinter/run/machine.hpp"

namespace sinter {

TrafficCheck::TrafficCheck(Communicator& ranks, const Machine& machine)
    : ranks_(ranks), machine_(machine) {
  stated_.reserve(2 * std::size_t(machine.model().count()) + 8);  // a step allocates nothing
}

void TrafficCheck::begin(const Instruction& instruction, int iteration, int iterations) {
  instruction_ = &instruction;
  next_ = 0;
  stated_.clear();
  const OnRank on{rank(), ranks(), iteration, iterations};
  if (instruction.kind->traffic)
    (*instruction.kind->traffic)(machine_.model(), instruction, on, stated_);
}

void TrafficCheck::end() {
  if (next_ < stated_.size()) refuse("has not done all of it");
  instruction_ = nullptr;
}

void TrafficCheck::wait(const void* data) {
  if (instruction_ && !take(Traffic::waits, data)) refuse("waits for another transfer");
  ranks_.wait(data);
}

void TrafficCheck::sum(double* values, int count) {
  if (instruction_) {
    const Traffic* stated = take(Traffic::both, values);
    if (!stated || stated->operation != Operation::all_reduce || stated->count != count ||
        stated->element != Element::f64)
      refuse("sums other numbers");
  }
  ranks_.sum(values, count);
}

void TrafficCheck::start_transfer(const Transfer& transfer) {
  if (instruction_) {
    const Traffic* stated = take(Traffic::starts, transfer.data);
    if (!stated || stated->operation != transfer.operation || stated->count != transfer.count ||
        stated->element != transfer.element || stated->peer != transfer.root)
      refuse("starts another transfer: " + std::string(operation_names[int(transfer.operation)]) +
             " of " + std::to_string(transfer.count) + " elements of " +
             std::to_string(bytes_of(transfer.element)) + " bytes");
  }
  ranks_.start(transfer);
}

/// Takes the next that is stated, if it is this; else gives nullptr.
const Traffic* TrafficCheck::take(Traffic::Does does, const void* data) {
  if (next_ == stated_.size()) return nullptr;
  const Traffic& next = stated_[next_++];
  return next.does == does && data == address(next) ? &next : nullptr;
}

const void* TrafficCheck::address(const Traffic& traffic) const {
  const std::int64_t first = machine_.model().held_at(traffic.space, traffic.first);
  return machine_.flat<std::byte>(traffic.space) + first * bytes_of(traffic.element);
}

void TrafficCheck::refuse(const std::string& what) const {
  std::string stated;
  for (const Traffic& traffic : stated_) {
    const char* does[]{"start", "wait for", "run"};
    stated += std::string(stated.empty() ? "" : ", ") + does[int(traffic.does)] + " " +
              operation_names[int(traffic.operation)] + " of " + std::to_string(traffic.count) +
              " elements of " + std::to_string(bytes_of(traffic.element)) + " bytes";
  }
  const TextBuilder subject = subject_letters(machine_.model(), *instruction_);
  throw Error(
      "Sinter: rank " + std::to_string(rank()) + " is in the instruction '" +
      instruction_->kind->name + "' of " + std::string(subject.view()) + ", which " + what +
      ". Its kind states: " + (stated.empty() ? "nothing" : stated) +
      ". The proof that ranks do not wait for each other for ever is about what kinds state: "
      "let Kind::traffic and Kind::run do the same, in the same order.");
}

}  // namespace sinter
