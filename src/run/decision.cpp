// SPDX-License-Identifier: Apache-2.0
#include "run/decision.hpp"

#include <algorithm>
#include <cstddef>

#include "sinter/base/with_element.hpp"
#include "sinter/program/kinds.hpp"
#include "sinter/run/machine.hpp"

namespace sinter::detail {

namespace {
std::byte* start_of(kernel::Decision* decision) { return reinterpret_cast<std::byte*>(decision); }
}  // namespace

std::array<float, kernel::Votes::count> numbers_of(const kernel::Votes& votes) {
  return {float(votes.stop), float(votes.save), float(votes.done), float(votes.failed)};
}

void begin_decision(kernel::Stream& stream, kernel::Decision* decision, const kernel::Votes& own) {
  clear_on_device(stream, start_of(decision), sizeof(kernel::Decision));
  if (own == kernel::Votes{}) return;
  std::byte* to = start_of(decision) + offsetof(kernel::Decision, votes);
  put_values(stream, numbers_of(own), to, Element::f64, 0);
}

void put_predictions(kernel::Stream& stream, kernel::Decision* decision, std::int64_t predictions) {
  if (predictions == 0) return;
  std::byte* to = start_of(decision) + offsetof(kernel::Decision, predictions);
  *OnHost(stream, to, sizeof(double), Access::write).as<double>() = double(predictions);
}

void read_decision(kernel::Stream& stream, kernel::Decision* from, kernel::Decision& to) {
  to = *OnHost(stream, start_of(from), sizeof to, Access::read).as<kernel::Decision>();
}

void sum_over_ranks(kernel::Stream& stream, Communicator& ranks, kernel::Decision* decision,
                    std::span<double> values) {
  constexpr std::size_t at_once = 3;  // numbers that a decision begins with
  std::byte* const at = start_of(decision);
  while (!values.empty()) {
    const std::span some = values.first(std::min(at_once, values.size()));
    const auto bytes = std::int64_t(some.size_bytes());
    std::ranges::copy(some, OnHost(stream, at, bytes, Access::write).as<double>());
    ranks.sum(&decision->loss, int(some.size()));
    std::ranges::copy_n(OnHost(stream, at, bytes, Access::read).as<double>(), std::ssize(some),
                        some.begin());
    values = values.subspan(some.size());
  }
}

void take_norm(Machine& machine, const kernel::ClippingRule& rule) {
  const Model& m = machine.model();
  Communicator& ranks = machine.communicator();
  const ShardSlice all{{0, m.elements()}, 0};
  const bool counts_all = m.shards == 1 && (!m.at_root() || ranks.rank() == root_rank);
  const std::span<const ShardSlice> counted =
      counts_all ? std::span(&all, 1) : machine.parameters().shards(0, int(m.order.size()));
  with_element(m.sizes.element[int(Type::gradient)], [&]<class T>(T) {
    const T* gradients = machine.flat<T>(Space::gradient).data;
    const bool split = m.splits(Space::gradient);
    for (const ShardSlice& slice : counted)
      if (slice.size > 0)
        kernel::add_squares(machine.stream(), gradients + slice.at(split), slice.size,
                            &machine.decision()->squares);
  });
  static_assert(kernel::Decision::up_to_squares <= Communicator::max_values);
  ranks.sum(&machine.decision()->loss, traffic::summed_in_norm(m));
  kernel::decide(machine.stream(), rule, machine.loss_scale(), machine.decision());
}

void executes::loss(Machine& machine, const Bound& bound) {
  const Model& m = machine.model();
  const Unit& unit = m.units[bound.instruction->what];
  const int rows = machine.now().sequences[m.local(unit.first_value).axis].rows();
  const auto add = [&]<class T>(const T* losses) {
    kernel::sum(machine.stream(), losses, rows, &machine.decision()->loss, true);
  };
  m.sizes.element[int(Type::statistic)] == Element::f64 ? add(static_cast<double*>(bound.value))
                                                        : add(static_cast<float*>(bound.value));
}

}  // namespace sinter::detail
