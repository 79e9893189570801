// SPDX-License-Identifier: Apache-2.0
// How the kinds of instruction that every program is made of run.
#include "sinter/program/kinds.hpp"

#include "sinter/base/with_element.hpp"
#include "sinter/comm/communicator.hpp"
#include "sinter/run/machine.hpp"

namespace sinter::detail::executes {

void load(Machine& machine, const Bound&) { machine.inputs().load(); }

void calls(Machine&, const Bound& bound) {
  const BoundCall* const end = bound.calls + bound.count;  // once: calls do not change it
  for (const BoundCall* c = bound.calls; c != end; ++c) c->run(c->call);
}

namespace {

/// Calls visit(kept, running, count) with the running values of all units as they are kept, at the
/// end of the master weights, and in the step at hand.
void visit_running(Machine& machine, auto visit) {
  const Model& model = machine.model();
  with_element(model.sizes.element[int(Type::master)], [&]<class T>(T) {
    const std::int64_t first =
        model.held_at(Space::master, model.master_elements() - model.running);
    visit(machine.flat<T>(Space::master) + first, machine.flat<T>(Space::running).data,
          model.running);
  });
}

template <class T>
void copy_bytes(Machine& machine, const T* from, T* to, std::int64_t count) {
  copy_on_device(machine.stream(), reinterpret_cast<const std::byte*>(from),
                 reinterpret_cast<std::byte*>(to), count * std::int64_t(sizeof(T)));
}

}  // namespace

void copy_running(Machine& machine, const Bound&) {
  visit_running(machine, [&]<class T>(T* kept, T* running, std::int64_t count) {
    copy_bytes(machine, kept, running, count);
  });
}

void keep_running(Machine& machine, const Bound&) {
  Communicator& ranks = machine.communicator();
  visit_running(machine, [&]<class T>(T* kept, T* running, std::int64_t count) {
    if (ranks.ranks() > 1) {
      ranks.start_sum(running, count);
      ranks.wait(running);
      const OnHost sums(machine.stream(), reinterpret_cast<std::byte*>(running),
                        count * std::int64_t(sizeof(T)), Access::write);
      T* sum = sums.as<T>();
      for (std::int64_t k = 0; k < count; ++k) sum[k] = T(double(sum[k]) / ranks.ranks());
    }
    copy_bytes(machine, running, kept, count);
  });
}

}  // namespace sinter::detail::executes
