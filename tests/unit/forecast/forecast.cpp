// SPDX-License-Identifier: Apache-2.0
// What a step on many ranks would take, against what follows from its formulae.
#include <numeric>

#include "sinter/forecast/measure.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/parameters/average.hpp"
#include "support/message_of.hpp"
#include "unit/proof/small_steps.hpp"

namespace sinter::detail::testing {
namespace {

using Many = Small<Ddp<{.bucket_bytes = 500}>>;
const PlanView &one = Plan<One>::view, &many = Plan<Many>::view;
/// What a rank computes in a step of this program.
double computing(const PlanView& plan, int micro_batches) {
  const std::vector<double> seconds = computing_seconds(plan, device);
  double sum = 0;
  const auto program = plan.training.program;
  walk(program, loop_of(program), micro_batches,
       [&](int t, int) { sum += seconds[std::size_t(t)]; });
  return sum;
}
/// All that a rank starts.
std::vector<Traffic> started(const PlanView& plan, int ranks) {
  std::vector<Traffic> list;
  for (const Event& event :
       Communication(plan.training.program, true).events(plan.model, {0, ranks, 0, 1}))
    if (event.traffic.does != Traffic::waits) list.push_back(event.traffic);
  return list;
}
double seconds_of(const std::vector<Traffic>& list, int ranks, const LinkCost& over = link) {
  double sum = 0;
  for (const Traffic& traffic : list) sum += transfer_seconds(traffic, ranks, over);
  return sum;
}

TEST_CASE("instructions compute as many operations as the plan says of a token") {
  for (const PlanView* plan : {&one, &Plan<Made<Letters, Bert<tiny_bert>>>::view}) {
    const std::vector<double> seconds = computing_seconds(*plan, {1, endless});
    const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    CHECK(all == about(double(plan->flops_per_token * plan->micro * plan->context)));
  }
}

TEST_CASE("an update reads gradients, and reads and writes weights and state") {
  const auto bytes_of_update = [](const PlanView& plan) {
    const std::vector<double> seconds = computing_seconds(plan, {endless, 1});
    double bytes = 0;
    for (std::size_t t = 0; t < seconds.size(); ++t)
      if (plan.training.program[t].kind->role == Role::update) bytes += seconds[t];
    return bytes;
  };
  const double elements = double(one.model.elements());
  CHECK(bytes_of_update(one) == about(elements * (4 + 3 * 8)));
  const PlanView& split = Plan<Small<Zero<{.ranks = 4}>>>::view;
  CHECK(bytes_of_update(split) == about(double(split.model.elements()) / 4 * (4 + 3 * 8)));
}

template <class... Policies>
void check_plan_for_four() {
  const PlanForRanks made(Plan<Small<Policies..., Zero<{.ranks = 2}>>>::view, 4);
  const PlanView& typed = Plan<Small<Policies..., Zero<{.ranks = 4}>>>::view;
  const Memory &a = made.view().memory, &b = typed.memory;
  CHECK(a.parameters == b.parameters);
  CHECK(a.weights == b.weights);
  CHECK(a.gradients == b.gradients);
  CHECK(a.optimizer == b.optimizer);
  CHECK(a.policies == b.policies);
  CHECK(a.activations == b.activations);
  CHECK(a.workspace == b.workspace);
  CHECK(a.total == b.total);
  const Model &m = made.view().model, &n = typed.model;
  CHECK(m.shards == 4);
  CHECK(m.elements() == n.elements());
  for (std::size_t u = 0; u < m.offsets.size(); ++u) {
    CHECK(m.offsets[u].decayed == n.offsets[u].decayed);
    CHECK(m.offsets[u].undecayed == n.offsets[u].undecayed);
    CHECK(m.offsets[u].running == n.offsets[u].running);
  }
}
TEST_CASE("the plan for more ranks is that of a type that says so many") {
  check_plan_for_four<>();
  check_plan_for_four<Bf16, Average<>>();
  const PlanForRanks whole(one, 1024);
  CHECK(whole.view().memory.total == one.memory.total);
}

TEST_CASE("a transfer sends and takes what its algorithm says") {
  constexpr Traffic sum{Operation::all_reduce, Traffic::both, Space::gradient, 0, 1 << 20};
  constexpr Traffic scatter{Operation::reduce_scatter, Traffic::both, Space::gradient, 0, 1 << 20};
  static_assert(sent_bytes(sum, 1) == 0);
  static_assert(sent_bytes(sum, 2) == double(sum.bytes()));
  static_assert(sent_bytes(sum, 4) == 1.5 * double(sum.bytes()));
  constexpr Traffic parts{Operation::all_to_all, Traffic::both, Space::gradient, 0, 1 << 20};
  constexpr Traffic send{Operation::send, Traffic::both, Space::gradient, 0, 1 << 20};
  constexpr Traffic receive{Operation::receive, Traffic::both, Space::gradient, 0, 1 << 20};
  static_assert(sent_bytes(parts, 4) == .75 * double(parts.bytes()));
  static_assert(sent_bytes(send, 4) == double(send.bytes()));
  static_assert(sent_bytes(receive, 4) == 0);
  CHECK(transfer_seconds(receive, 4, link) == transfer_seconds(send, 4, link));
  for (int ranks : {2, 3, 4, 1000, 1024}) {
    CHECK(2 * sent_bytes(scatter, ranks) == about(sent_bytes(sum, ranks)));
    CHECK(2 * transfer_seconds(scatter, ranks, link) == about(transfer_seconds(sum, ranks, link)));
  }
  static_assert(rounds_of(Operation::all_gather, 2) == 1);
  static_assert(rounds_of(Operation::all_gather, 5) == 3);
  static_assert(rounds_of(Operation::all_gather, 1024) == 10);
  static_assert(rounds_of(Operation::all_to_all, 5) == 4);
  static_assert(rounds_of(Operation::send, 1024) == 1);
  static_assert(rounds_of(Operation::reduce, 5) == rounds_of(Operation::broadcast, 5));
}

TEST_CASE("a reduction after the last backward is fully exposed") {
  for (int ranks : {2, 3, 64, 1024})
    for (int micro_batches : {1, 3}) {
      CAPTURE(ranks);
      const Forecast f = forecast_of(one, ranks, {micro_batches, link});
      const std::vector<Traffic> list = started(one, ranks);
      REQUIRE(list.size() == 3);  // both parts of the bucket, and loss and votes
      CHECK(f.computing == about(computing(one, micro_batches)));
      CHECK(f.exposed == about(seconds_of(list, ranks)));
      CHECK(f.step == about(f.computing + f.exposed));
      CHECK(f.late == 0);
      double sent = 0;
      for (const Traffic& traffic : list) sent += sent_bytes(traffic, ranks);
      CHECK(f.sent == about(sent));
    }
}

TEST_CASE("a reduction beside backward is hidden, unless it takes the same processor") {
  const LinkCost usual{1e-7, 1e9}, quick{1e-9, endless}, slow{10, endless};
  const double all = seconds_of(started(many, 8), 8, usual);
  CHECK(all < computing(many, 2));
  CHECK(forecast_of(many, 8, {2, usual}).exposed < 0.7 * all);
  CHECK(forecast_of(many, 8, {2, usual, 1}).exposed == about(all));
  // Of transfers that take no time nothing is exposed but, nearly, that of the votes.
  CHECK(forecast_of(many, 8, {2, quick}).exposed < 1e-6);
  // Where they take far longer than computing, they are one queue from the first bucket on.
  const Forecast f = forecast_of(many, 8, {2, slow});
  const double queue = 3 * 2 * 10.0 * double(started(many, 8).size());
  CHECK(f.step < queue + f.computing);
  CHECK(f.step > queue);
}

TEST_CASE("a rank that is slow is waited for") {
  for (const PlanView* plan : {&one, &Plan<Small<Zero<{.bucket_bytes = 500, .ranks = 2}>>>::view}) {
    const LinkCost quick{0, endless};
    const Forecast f = forecast_of(*plan, 16, {2, quick, 0, 1.5});
    CHECK(f.step == about(1.5 * f.computing));
    CHECK(f.late == about(0.5 * f.computing));
  }
}

/// Rank 0 sends to rank 1 what that receives; the others only reduce.
void pass_on(const Model&, const Instruction&, const OnRank& on, TrafficList& out) {
  if (on.rank > 1) return;
  const Operation operation = on.rank == 0 ? Operation::send : Operation::receive;
  out.push_back({operation, Traffic::both, Space::gradient, 0, 1000, Element::f32, 0, 1 - on.rank});
}
constexpr Kind pass_kind{.name = "pass", .touch = touches::nothing, .traffic = pass_on};

TEST_CASE("ranks that say different things have times of their own") {
  Program program{{&forward, 0}, {&pass_kind}};
  const PlanView plan = with_program(one, program);
  const double ahead = computing_seconds(plan, device)[0];
  CHECK(ahead > 0);
  const Forecast f = forecast_of(plan, 3, {1, link});
  CHECK(f.step == about(ahead + 1e-4 + 4000 / 1e7));
  CHECK(f.sent == about(4000. / 3));
  CHECK(forecast_of(plan, 2, {1, link, 0, 2}).step == about(2 * ahead + 1e-4 + 4000 / 1e7));
}

TEST_CASE("programs that would hang have no time") {
  Program program(one.training.program.begin(), one.training.program.end());
  std::erase_if(program, [](const Instruction& i) { return i.kind == &await_reduce_kind<float>; });
  const PlanView plan = with_program(one, program);
  const std::string message = message_of<Error>([&] { (void)forecast_of(plan, 1024, {1, link}); });
  CHECK(message.find("the programs of 1024 ranks do not fit together") != message.npos);
  CHECK(message.find("started and not waited for") != message.npos);
}

TEST_CASE("costs that are measured here are costs") {
  const LinkCost here = measured_link_of_this_host();
  CHECK(here.latency > 0);
  CHECK(here.latency < 1);
  CHECK(here.bandwidth > 1e6);
  kernel::Stream stream(1);
  CHECK(measured_memory_rate(stream, 0.01) > 1e7);
}

}  // namespace
}  // namespace sinter::detail::testing
