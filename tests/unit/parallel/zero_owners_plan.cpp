// SPDX-License-Identifier: Apache-2.0
// Who owns which parameter, where Zero's optimizer takes parameters whole, and the memory and volume of that.
#include <map>

#include "program/models.hpp"
#include "sinter/forecast/forecast.hpp"
#include "sinter/optimizer/adafactor.hpp"
#include "sinter/optimizer/adamw8bit.hpp"
#include "sinter/optimizer/lion.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/recipe/savings.hpp"
#include "unit/parallel/zero_recipes.hpp"

namespace sinter::detail::testing {
namespace {

using Orthogonal = Muon<{.lr = 1e-2, .adamw_lr = 1e-2}>;
using Factors = Adafactor<{.lr = 1e-2, .beta1 = .9}>;
using Averaged = Average<{.decay = .9}>;
/// Two matrices, and the biases of two units.
using Shallow = Mlp<{.in = 3, .hidden = 8, .out = 2}>;
/// One matrix has more than all the others have together.
using Uneven = Mlp<{.in = 3, .hidden = 64, .out = 2, .layers = 3}>;

// ---- who owns what
struct Share {
  std::int64_t size;
  int owner;
  std::int64_t held;
  constexpr bool operator==(const Share&) const = default;
};
template <class R>
constexpr bool has_owners(std::initializer_list<Share> want) {
  std::int64_t first = 0;
  auto next = want.begin();
  for (const OwnedSlice& slice : Plan<R>::model.owned) {
    if (next == want.end() || slice.first != first) return false;
    if (*next++ != Share{slice.size, slice.owner, slice.local}) return false;
    first += slice.size;
  }
  return next == want.end() && first == Plan<R>::model.elements();
}
// By hand: of the blocks, h.1 first, 32 × 96, 32 × 32, 32 × 128 and 128 × 32; then the tables of 29 and of 12
// rows; then the vectors of ln_f and of both blocks. So 4096 go to 0, 1, 2, 3; 3072 to 0, 1; 1024 to 2, 3;
// 928 to 2; 416 to 3, 3; 384 to 3; 64 to 2.
static_assert(has_owners<Tiny<Split<4>, Orthogonal>>({{3072, 0, 0},
                                                      {1024, 2, 0},
                                                      {4096, 0, 3072},
                                                      {4096, 1, 0},
                                                      {3072, 1, 4096},
                                                      {1024, 3, 0},
                                                      {4096, 2, 1024},
                                                      {4096, 3, 1024},
                                                      {928, 2, 5120},
                                                      {384, 3, 5120},
                                                      {64, 2, 6048},
                                                      {416, 3, 5504},
                                                      {416, 3, 5920}}));
static_assert(Plan<Tiny<Split<4>, Orthogonal>>::model.held_elements() == 7168);
// Padded to 16: the matrix of output, of 2 × 8, that of input, of 8 × 3, and their biases.
static_assert(has_owners<Made<Shallow, Batch<{.global = 8, .micro = 1}>, Factors, Split<8>>>(
    {{16, 1, 0}, {32, 0, 0}, {16, 2, 0}, {16, 3, 0}}));
static_assert(Plan<Made<Uneven, Batch<{.global = 8, .micro = 1}>, Factors, Split<4>>>::model
                  .held_elements() == 64 * 64);

// ---- memory and volume
/// The most bytes that a rank has of region number r, of what it owns.
template <class R>
std::int64_t max_of_region(int r) {
  std::map<int, std::int64_t> bytes;
  for (const Parameter& p : list_parameters(Plan<R>::model))
    if (p.owner >= 0) bytes[p.owner] += aligned(p.state[std::size_t(r)].shape.bytes());
  std::int64_t most = 0;
  for (const auto& [rank, sum] : bytes) most = std::max(most, sum);
  return most;
}
template <int Stage, class... Policies>
void check_memory() {
  CAPTURE(Stage);
  using R = Tiny<Split<4, Stage>, Orthogonal, Policies...>;
  const Model& model = Plan<R>::model;
  const Memory& memory = Plan<R>::memory;
  const std::int64_t all = aligned(model.elements() * 4), most = aligned(model.held_elements() * 4);
  const bool splits_masters = Stage == 3 || model.weights() == Space::weights;
  CHECK(memory.parameters == (splits_masters ? most : all));
  CHECK(memory.gradients == (Stage >= 2 ? most : all));
  CHECK(memory.optimizer == max_of_region<R>(0) + max_of_region<R>(1) + max_of_region<R>(2));
  CHECK(memory.policies == (model.regions.size() > 3 ? most : 0));
  Trainer<R> trainer({.seed = 3, .threads = 4});
  take_steps(trainer, 0, 2);
  std::vector<std::int64_t> owned(4);
  for (const OwnedSlice& slice : model.owned) owned[std::size_t(slice.owner)] += slice.size;
  CHECK(*std::ranges::max_element(owned) == model.held_elements());
  for (int rank = 0; rank < 4; ++rank) {
    const Machine& machine = trainer.machine(rank);
    CHECK(std::int64_t(machine.arena().size()) == Plan<R>::bytes);
    std::int64_t held = 0;
    for (const ShardSlice& shard : machine.parameters().shards(0, int(model.order.size())))
      held += shard.size;
    CHECK(held == owned[std::size_t(rank)]);
  }
}
TEST_CASE("the arena has room for what the rank with the most owns") {
  check_memory<1>();
  check_memory<1, Bf16, Averaged>();
  check_memory<2>();
  check_memory<3, Bf16>();
}

/// Bytes of an operation that a rank states in a step of so many micro-batches, on four ranks.
template <class R>
constexpr std::int64_t stated(Operation operation, int micro_batches) {
  std::int64_t bytes = 0;
  for (const Event& event :
       Communication(Plan<R>::program, true).events(Plan<R>::model, {0, 4, 0, micro_batches}))
    if (event.traffic.operation == operation && event.traffic.does != Traffic::waits)
      bytes += event.traffic.bytes();
  return bytes;
}
template <int Stage, int Micro, int Weight, class... Policies>
constexpr bool moves_as_the_formula() {
  using R = Tiny<Split<4, Stage>, Orthogonal, Policies...>;
  const Model& model = Plan<R>::model;
  const std::int64_t elements = model.elements();
  const std::int64_t weights =
      Stage < 3 ? elements : Micro * (2 * elements - model.unit_elements(3));
  return stated<R>(Operation::reduce, Micro) == (Stage == 1 ? 1 : Micro) * elements * 4 &&
         stated<R>(Operation::broadcast, Micro) == weights * Weight &&
         stated<R>(Operation::reduce_scatter, Micro) == 0 &&
         stated<R>(Operation::all_gather, Micro) == 0;
}
static_assert(moves_as_the_formula<1, 2, 4>() && moves_as_the_formula<1, 2, 2, Bf16>());
static_assert(moves_as_the_formula<2, 2, 4>() && moves_as_the_formula<3, 2, 2, Bf16>());

TEST_CASE("a machine gives only parts of parameters that its rank owns") {
  Trainer<Tiny<Split<2>, Orthogonal, Bf16>> trainer({.seed = 3, .threads = 2});
  for (const Parameter& p : trainer.parameters())
    for (int rank = 0; rank < 2; ++rank) {
      const ParameterStore& store = trainer.machine(rank).parameters();
      CHECK(store.owns(p) == (p.owner == rank));
      CHECK(store.pieces(Space::master, p).size() == (p.owner == rank ? 1 : 0));
      if (p.owner == rank) {
        CHECK(store.part(Space::master, p).shape.size() == p.size);
      } else {
        CHECK_THROWS_AS((void)store.part(Space::master, p), Error);
        CHECK_THROWS_AS((void)store.part(region(0), p), Error);
      }
    }
}

// ---- what a plan would be otherwise
TEST_CASE("the plan for more ranks is that of a type that says so many") {
  const PlanForRanks made(Plan<Tiny<Split<2, 2>, Orthogonal, Bf16, Averaged>>::view, 4);
  using Typed = Plan<Tiny<Split<4, 2>, Orthogonal, Bf16, Averaged>>;
  const Memory &a = made.view().memory, &b = Typed::memory;
  CHECK(a.parameters == b.parameters);
  CHECK(a.gradients == b.gradients);
  CHECK(a.optimizer == b.optimizer);
  CHECK(a.policies == b.policies);
  CHECK(a.total == b.total);
  CHECK(made.view().model.held_elements() == Typed::model.held_elements());
}

std::int64_t total(const std::shared_ptr<RecipeView>& recipe, std::string_view technique) {
  for (const Saving& s : savings(*recipe->plan, recipe->alternatives()))
    if (s.technique.starts_with(technique)) return s.total;
  return -1;
}
TEST_CASE("savings are what the recipe with the technique plans, whether ranks own or have parts") {
  const auto parts = Trainer<Tiny<Split<2>, Decaying>>::options();
  CHECK(total(parts, "AdamW8bit<>") == Plan<Tiny<Split<2>, AdamW8bit<>>>::bytes);
  CHECK(total(parts, "Adafactor<>") == Plan<Tiny<Split<2>, Adafactor<>>>::bytes);
  CHECK(total(parts, "Lion<>") == Plan<Tiny<Split<2>, Lion<>>>::bytes);
  const auto owned = Trainer<Tiny<Split<2>, Factors>>::options();
  CHECK(total(owned, "Adafactor<>") == Plan<Tiny<Split<2>, Adafactor<>>>::bytes);
  CHECK(total(owned, "Sgd<>") == Plan<Tiny<Split<2>, Sgd<>>>::bytes);
}

}  // namespace
}  // namespace sinter::detail::testing
