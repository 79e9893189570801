// How the kinds of instruction that every program is made of run.
#include "sinter/program/kinds.hpp"

#include <cmath>

#include "sinter/comm/communicator.hpp"
#include "sinter/kernels/norm.hpp"
#include "sinter/plan/plan_view.hpp"
#include "sinter/precision/cast.hpp"
#include "sinter/run/elements.hpp"
#include "sinter/run/machine.hpp"

namespace sinter::executes {

void nothing(Machine&, const Bound&) {}

void load(Machine& machine, const Bound&) { machine.load_micro_batch(); }

void calls(Machine&, const Bound& bound) {
  for (const BoundCall* c = bound.calls; c != bound.calls + bound.count; ++c) c->run(c->call);
}

void loss(Machine& machine, const Bound& bound) { machine.take_loss(bound); }

void cast(Machine& machine, const Bound& bound) {
  if (!machine.norm().finite) return;  // nothing was updated
  const Instruction& i = *bound.instruction;
  for (bool decayed : {true, false})
    machine.cast_weights(machine.flat_slice(i.what, i.count, decayed));
}

}  // namespace sinter::executes

namespace sinter {

Norm Machine::measure_norm() {
  const Model& m = plan_.model;
  double squares = 0;
  with_element(m.sizes.element[int(Type::gradient)], [&]<class T>(T) {
    squares = kernel::sum_of_squares(stream_, flat<T>(Space::gradient), m.elements());
  });
  loss_sum_ = communicator_.sum(loss_sum_);
  Norm norm;
  norm.value = std::sqrt(squares) / work_.loss_scale;
  norm.finite = std::isfinite(norm.value) && std::isfinite(loss_sum_);
  return norm;
}

}  // namespace sinter
