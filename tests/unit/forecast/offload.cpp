// SPDX-License-Identifier: Apache-2.0
// How long a step waits for what lives outside of the device's memory, against what follows from rates.
#include "sinter/forecast/offload.hpp"

#include "sinter/error.hpp"
#include "sinter/forecast/measure.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/memory/offload.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parallel/zero.hpp"
#include "unit/proof/small_steps.hpp"

namespace sinter::detail::testing {
namespace {

using EachUnit = Offload<{.bucket_bytes = 1}>;
using Away = Small<Ddp<{.bucket_bytes = 1 << 30}>, EachUnit>;
const PlanView &one = Plan<One>::view, &offload = Plan<Away>::view;
/// Bytes of AdamW's state.
double state_of(const PlanView& plan) { return 8 * double(plan.model.elements()); }

OffloadStep all_of(const PlanView& plan) {
  OffloadStep all;
  for (const OffloadStep& step : offload_steps(plan)) {
    all.fetched += step.fetched;
    all.stored += step.stored;
  }
  return all;
}

TEST_CASE("instructions fetch and store all offloaded state once, and nothing if there is none") {
  CHECK(all_of(one).fetched == 0);
  for (const OffloadStep& step : offload_steps(Plan<Small<Zero<{.stage = 3, .ranks = 4}>>>::view))
    CHECK(!step.any());
  CHECK(all_of(offload).fetched == state_of(offload));
  CHECK(all_of(offload).stored == state_of(offload));
  using Shards = Small<Zero<{.stage = 3, .ranks = 2}>, Offload<{.weights = true}>>;
  const PlanForRanks four(Plan<Shards>::view, 4);
  const Model& model = four.view().model;
  double masters = 0;
  for (const Instruction& i : four.view().training.program)
    if (i.kind == &fetch_masters_kind) masters += 4 * double(model.unit_elements(i.what)) / 4;
  CHECK(masters > 0);
  CHECK(all_of(four.view()).stored == state_of(four.view()) * 1.5 / 4);
  CHECK(all_of(four.view()).fetched == state_of(four.view()) * 1.5 / 4 + masters);
  CHECK(double(four.view().memory.offloaded) == state_of(four.view()) * 1.5 / 4);
}

TEST_CASE("each wait is for what was started in its direction") {
  const std::vector<OffloadStep> steps = offload_steps(offload);
  for (std::size_t t = 0; t < steps.size(); ++t) {
    const Kind* const kind = offload.training.program[t].kind;
    CHECK((steps[t].fetched > 0) == (kind == &fetch_state_kind));
    CHECK((steps[t].stored > 0) == (kind == &store_state_kind));
    CHECK(steps[t].awaits_fetches == (kind == &await_state_kind));
    CHECK(steps[t].awaits_stores == (kind == &await_store_kind));
  }
}

/// Of a program of these instructions of the unit that is updated first, each with its seconds.
struct Timed {
  Instruction instruction;
  double seconds = 0;
};
constexpr Timed fetches{{&fetch_state_kind, 0, 1}}, stores{{&store_state_kind, 0, 1}},
    await_fetches{{&await_state_kind, 0, 1}}, await_stores{{&await_store_kind, 0, 1}};
constexpr Timed computes(double seconds) { return {{&forward, 0}, seconds}; }

/// Where its state comes in as many seconds, and goes in as many, each alone.
OffloadCost takes(double coming, double going, double beside = 1, double taken = 0) {
  const double bytes = 8 * double(offload.model.unit_elements(offload.model.order[0]));
  return {bytes / coming, bytes / going, beside, taken};
}
Forecast forecast_timed(const std::vector<Timed>& timed, const OffloadCost& cost, int ranks = 1,
                        double straggler = 1) {
  Program program;
  std::vector<double> seconds;
  for (const Timed& t : timed) {
    program.push_back(t.instruction);
    seconds.push_back(t.seconds);
  }
  const PlanView plan = with_program(offload, program);
  return forecast(PlanForRanks(plan, ranks), ranks, {1, link, 0, straggler, cost}, seconds);
}
void check_step(const Forecast& f, double step, double waits) {
  CHECK(f.step == about(step));
  CHECK(f.offload == doctest::Approx(waits).epsilon(1e-9));
  CHECK(f.computing == about(step - waits));
  CHECK(f.exposed == doctest::Approx(0));
}

TEST_CASE(
    "state that is fetched and stored beside the computation is waited for as far as that is "
    "shorter") {
  const std::vector<Timed> program{fetches, computes(1), await_fetches, computes(2),
                                   stores,  computes(3), await_stores};
  check_step(forecast_timed(program, takes(4, 5)), 4 + 2 + 5, 3 + 2);
  check_step(forecast_timed(program, takes(1, 3)), 6, 0);
  check_step(forecast_timed(program, takes(1e-9, 4)), 7, 1);
  const std::vector<Timed> at_once{computes(1), fetches, await_fetches, stores, await_stores};
  check_step(forecast_timed(at_once, takes(2, 3)), 1 + 2 + 3, 5);
}

TEST_CASE("fetches are done in their order, and a wait is for all of them") {
  check_step(
      forecast_timed({fetches, fetches, computes(1), await_fetches, computes(1)}, takes(2, 1)), 5,
      3);
  check_step(
      forecast_timed({fetches, await_fetches, fetches, computes(1), await_fetches}, takes(2, 1)), 4,
      3);
}

TEST_CASE("fetches and stores beside each other share what they share") {
  const std::vector<Timed> both{fetches, stores, await_fetches, await_stores, computes(1)};
  check_step(forecast_timed(both, takes(2, 3)), 3 + 1, 3);
  check_step(forecast_timed(both, takes(2, 3, .5)), 5 + 1, 5);  // one rate: as one after the other
  // The fetch is half done when the store begins; then it takes twice its time, and the store has its rest.
  const std::vector<Timed> later{fetches,       computes(1), stores,
                                 await_fetches, computes(1), await_stores};
  check_step(forecast_timed(later, takes(2, 3, .5)), 5, 3);
}

TEST_CASE("transfers that take the processor hide nothing of what they take") {
  const std::vector<Timed> program{fetches, computes(4), await_fetches};
  check_step(forecast_timed(program, takes(1, 1, 1, 1)), 5, 1);
  check_step(forecast_timed(program, takes(1, 1, 1, .5)), 4.5, .5);
  check_step(forecast_timed(program, takes(6, 1, 1, .5)), 7, 3);
}

TEST_CASE("a rank that is slow is waited for behind its disk, too") {
  const std::vector<Timed> program{fetches, computes(1), await_fetches, computes(2),
                                   stores,  computes(3), await_stores};
  const Forecast f = forecast_timed(program, takes(4, 5), 2, 2);
  CHECK(f.step == about(4 + 4 + 6));
  CHECK(f.computing == about(6));
  CHECK(f.offload == about(5));
  CHECK(f.exposed == about(3));
}

Forecast forecast_offload(const PlanView& plan, int ranks, const OffloadCost& cost) {
  return forecast_of(plan, ranks, {2, link, 0, 1, cost});
}
TEST_CASE("a step with offloaded state takes as long as its disk, and what is exposed of it") {
  const Forecast kept = forecast_of(one, 8, {2, link});
  CHECK(forecast_offload(one, 8, {1, 1}).step == kept.step);
  CHECK(forecast_offload(one, 8, {1, 1}).offload == 0);
  const Forecast free = forecast_offload(offload, 8, {endless, endless});
  CHECK(free.offload < 1e-12);
  CHECK(free.exposed == about(kept.exposed));
  for (const PlanView* plan : {&offload, &Plan<Small<SplitBatch<{.ranks = 8}>, EachUnit>>::view}) {
    const Forecast slow = forecast_offload(*plan, 8, {100, 100, .5});
    CHECK(slow.fetched == state_of(*plan));
    CHECK(slow.stored == state_of(*plan));
    CHECK(slow.step > 2 * state_of(*plan) / 100);
    CHECK(slow.step < 2 * state_of(*plan) / 100 + slow.computing + slow.exposed);
    CHECK(slow.step == about(slow.computing + slow.exposed + slow.offload));
  }
}

TEST_CASE("measuring a disk gives its rates, for a folder that exists") {
  kernel::Stream stream(1);
  const OffloadCost outside = measured_offload_cost(stream, "/var/tmp", 0.01);
  CHECK(outside.fetch > 1e6);
  CHECK(outside.store > 1e6);
  CHECK(outside.beside > 0);
  CHECK(outside.beside <= 1);
  CHECK_THROWS_AS((void)measured_offload_cost(stream, "/no/such/folder"), FileError);
}

}  // namespace
}  // namespace sinter::detail::testing
