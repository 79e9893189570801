// SPDX-License-Identifier: Apache-2.0
// A policy whose instruction speaks to all ranks in every micro-batch.
#pragma once
#include <atomic>

#include "program/models.hpp"
#include "sinter/comm/communicator.hpp"
#include "sinter/run/machine.hpp"

namespace sinter::detail::testing {

/// What the instruction does otherwise than its kind states.
enum class Wrong {
  nothing,
  unstated,
  count,
  operation,
  type,
  place,
  root,
  unawaited,
  silent,
  number
};

/// How often it ran on any rank, and how often the sum was wrong.
inline std::atomic<int> told = 0, told_wrongly = 0;

struct telling_slot {
  static constexpr std::string_view name = "telling";
};

/// What such policies have in common; `Policy` is the one.
template <class Policy>
struct Speaking {
  using slot = telling_slot;
  static constexpr std::array regions{Region{"told"}};
  static constexpr int numbers = 8;

  static constexpr Space place(const Model& model) {
    Space space{};
    for_each_region<Policy>(model, [&](int r) { space = region(r); });
    return space;
  }
  static constexpr void touch(const Model& model, const Instruction& i, TouchList& out) {
    touches::each(model, i, Use::modify, place(model), out);
  }
  static constexpr Program rewrite(const Model& model, Program program) {
    const auto loads =
        std::ranges::find_if(program, [](const Instruction& i) { return i.kind == &load; });
    program.insert(loads + 1, {&Policy::kind, 0, short(model.order.size())});
    return program;
  }
};

template <Wrong W>
struct Telling : Speaking<Telling<W>> {
  using Base = Speaking<Telling<W>>;
  using Base::numbers, Base::place;

  static constexpr void state(const Model& model, const Instruction&, const OnRank&,
                              TrafficList& out) {
    if (W == Wrong::unstated) return;
    Traffic sum{Operation::all_reduce, Traffic::starts, place(model), 0, numbers, Element::f32};
    if (W == Wrong::count) ++sum.count;
    if (W == Wrong::operation) sum.operation = Operation::all_gather;
    if (W == Wrong::type) sum.element = Element::bf16;
    if (W == Wrong::place) ++sum.first;
    if (W == Wrong::root) sum.peer = 0;
    if (W == Wrong::number) sum.does = Traffic::both;
    out.push_back(sum);
    sum.does = Traffic::waits;
    if (W != Wrong::number) out.push_back(sum);
  }
  /// Each rank gives its number, counted from 1.
  static void run(Machine& machine, const Bound&) {
    if (W == Wrong::silent) return;
    Communicator& ranks = machine.communicator();
    float* mine = machine.flat<float>(place(machine.model())).data;
    std::fill_n(mine, numbers, float(ranks.rank() + 1));
    ranks.start_sum(mine, numbers);
    if (W == Wrong::unawaited) return;
    ranks.wait(mine);
    ++told;
    for (int k = 0; k < numbers; ++k)
      told_wrongly += mine[k] != float(ranks.ranks() * (ranks.ranks() + 1) / 2);
  }
  static constexpr Kind kind{.name = "tell", .touch = Base::touch, .run = run, .traffic = state};
};

/// A policy whose instruction exchanges numbers with the rank beside it: 0 with 1, 2 with 3.
template <Wrong W>
struct Passing : Speaking<Passing<W>> {
  using Base = Speaking<Passing<W>>;
  using Base::numbers, Base::place;

  static constexpr int other(int rank) { return rank ^ 1; }

  static constexpr void state(const Model& model, const Instruction&, const OnRank& on,
                              TrafficList& out) {
    Traffic send{Operation::send, Traffic::starts, place(model), 0, numbers, Element::f32, 0,
                 other(on.rank)};
    if (on.ranks % 2) return;
    Traffic receive = send;
    receive.operation = Operation::receive;
    receive.first = numbers;
    if (W == Wrong::operation) std::swap(send.operation, receive.operation);
    if (W == Wrong::root) send.peer = receive.peer = (on.rank + on.ranks / 2) % on.ranks;
    for (const Traffic::Does does : {Traffic::starts, Traffic::waits}) {
      send.does = receive.does = does;
      out.push_back(send);
      out.push_back(receive);
    }
  }
  static void run(Machine& machine, const Bound&) {
    Communicator& ranks = machine.communicator();
    float* mine = machine.flat<float>(place(machine.model())).data;
    std::fill_n(mine, numbers, float(ranks.rank()));
    ranks.start_send(mine, numbers, other(ranks.rank()));
    ranks.start_receive(mine + numbers, numbers, other(ranks.rank()));
    ranks.wait(mine);
    ranks.wait(mine + numbers);
    ++told;
    for (int k = 0; k < numbers; ++k)
      told_wrongly += mine[numbers + k] != float(other(ranks.rank()));
  }
  static constexpr Kind kind{.name = "tell", .touch = Base::touch, .run = run, .traffic = state};
};

/// Waits for all ranks in every micro-batch.
template <Wrong W>
struct Meeting : Speaking<Meeting<W>> {
  static constexpr void state(const Model&, const Instruction&, const OnRank&, TrafficList& out) {
    if (W != Wrong::unstated) out.push_back({Operation::barrier, Traffic::both, Space::decision});
  }
  static void run(Machine& machine, const Bound&) {
    if (W == Wrong::silent) return;
    double value = 1;
    W == Wrong::operation ? machine.communicator().sum(&value) : machine.communicator().barrier();
    ++told;
  }
  static constexpr Kind kind{
      .name = "meet", .touch = Speaking<Meeting<W>>::touch, .run = run, .traffic = state};
};

}  // namespace sinter::detail::testing
