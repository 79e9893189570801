// SPDX-License-Identifier: Apache-2.0
// A set of combinations in which every legal pair of policies occurs trains; the compiler chooses
// it. (tests/static verifies every legal combination.)
#include <boost/hana/at.hpp>
#include <boost/hana/length.hpp>

#include "support/batches.hpp"
#include "support/combinations.hpp"
#include "support/trainers.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing {
namespace {
// ---- a covering set

using Choice = std::array<int, 4>;  // of precision, optimizer, memory, batch
template <class List>
constexpr int size_of = int(decltype(hana::length(std::declval<List>()))::value);
constexpr Choice sizes{size_of<decltype(precisions)>, size_of<decltype(optimizers)>,
                       size_of<decltype(memories)>, size_of<decltype(batches)>};
constexpr int tuples = sizes[0] * sizes[1] * sizes[2] * sizes[3];
constexpr Choice choice_of(int tuple) {
  Choice c{};
  for (int k = 4; k-- > 0; tuple /= sizes[k]) c[k] = tuple % sizes[k];
  return c;
}
template <int Tuple>
using Chosen = typename decltype(recipe(
    hana::at_c<choice_of(Tuple)[0]>(precisions), hana::at_c<choice_of(Tuple)[1]>(optimizers),
    hana::at_c<choice_of(Tuple)[2]>(memories), hana::at_c<choice_of(Tuple)[3]>(batches)))::type;
constexpr auto legality = []<int... T>(std::integer_sequence<int, T...>) {
  return std::array{legal<Chosen<T>>...};
}(std::make_integer_sequence<int, tuples>());

/// The six pairs of policies that a tuple has, as numbers.
constexpr int most = std::ranges::max(sizes);
constexpr auto pairs_of_tuples = [] {
  std::array<std::array<int, 6>, tuples> pairs{};
  for (int t = 0; t < tuples; ++t) {
    const Choice c = choice_of(t);
    int k = 0;
    for (int a = 0; a < 4; ++a)
      for (int b = a + 1; b < 4; ++b) pairs[t][k++] = ((a * 4 + b) * most + c[a]) * most + c[b];
  }
  return pairs;
}();

struct Covering {
  std::array<int, tuples> tuple{};
  int size = 0;
};
/// Greedy: the tuple with most pairs that no chosen one has, until none has any.
constexpr Covering covering = [] {
  Covering chosen;
  std::array<bool, 16 * most * most> covered{};
  while (true) {
    int best = -1, gain = 0;
    for (int t = 0; t < tuples; ++t) {
      if (!legality[t]) continue;
      int fresh = 0;
      for (int pair : pairs_of_tuples[t]) fresh += !covered[pair];
      if (fresh > gain) best = t, gain = fresh;
    }
    if (best < 0) return chosen;
    chosen.tuple[chosen.size++] = best;
    for (int pair : pairs_of_tuples[best]) covered[pair] = true;
  }
}();

struct Combination {
  std::shared_ptr<RecipeView> (*own)(), (*plain)(), (*whole)();
  double split_bound;
};
/// How far apart sums over rows may be that are taken in other parts: rounded to the type that
/// gradients have at the end, and for narrow types the activations' gradients, too, which are scaled
/// anew. What a product rounds its inputs to, it may round to the other neighbour.
template <class P>
constexpr double split_bound = [] {
  if (std::is_same_v<typename P::compute, double>) return 1e-12;
  if (!std::is_same_v<typename P::compute, float>) return 1e-2;
  return hook::matmul_inputs<P> == kernel::MatmulInputs::rounded ? 1e-3 : 1e-5;
}();
template <class P, class O, class M, class... B>
Combination combination(std::type_identity<Net<P, O, M, B...>>) {
  return {view_of<Net<P, O, M, B...>>, view_of<Net<P, O, KeepAll, B...>>,
          view_of<Net<P, O, KeepAll, Whole>>, split_bound<P>};
}
std::vector<Combination> combinations() {
  return []<std::size_t... K>(std::index_sequence<K...>) {
    return std::vector{combination(std::type_identity<Chosen<covering.tuple[K]>>{})...};
  }(std::make_index_sequence<covering.size>());
}

/// Sequences of several lengths, as many and as long as the recipe's next batch may have.
HostBatch next_batch(const RecipeView& recipe, std::uint64_t sequences, int salt) {
  const BatchShape shape =
      recipe.changes_batches ? recipe.batch_shapes()(sequences) : BatchShape{4, context};
  std::vector<int> lengths{8, 3, 5, 8};
  lengths.resize(std::size_t(shape.sequences));
  for (int& length : lengths) length = std::min(length, shape.length);
  return token_batch(lengths, letters, std::uint64_t(salt), .2);
}
/// A step; one that a loss scale skips is taken again.
double take(TrainerCore& trainer, const HostBatch& batch) {
  for (int tries = 0; tries < 30; ++tries)
    if (Outcome outcome = trainer.step(batch); auto* a = std::get_if<Applied>(&outcome))
      return a->loss.mean();
  FAIL("the step is never applied");
  return 0;
}
TEST_CASE("every legal pair of policies trains, as its plain counterpart, and resumes") {
  const TrainerSettings settings{.seed = 1, .threads = 1};
  int steps = 0;
  for (const Combination& c : combinations()) {
    TrainerCore own(c.own(), settings), plain(c.plain(), settings), whole(c.whole(), settings),
        again(c.own(), {.seed = 2, .threads = 1});
    std::string name;
    for (const std::string& policy : own.recipe().policies) name += policy + " ";
    CAPTURE(name);
    TemporaryFolder folder;
    double first = 0, last = 0;
    std::uint64_t sequences = 0;
    for (int step = 1; step <= 10; ++step, ++steps) {
      const HostBatch batch = next_batch(own.recipe(), sequences, step % 2);
      sequences += std::uint64_t(batch.sequences());
      last = take(own, batch);
      CHECK(last == take(plain, batch));
      if (step == 1) {
        CHECK(relative_difference(last, take(whole, batch)) < c.split_bound);
        NamedNumbers gradients = gradients_of(own);
        for (const auto& [parameter, want] : gradients_of(whole))
          CHECK(relative_difference(gradients[parameter], want) < c.split_bound);
      }
      if (step <= 2) first += last / 2;
      if (step == 5) {
        own.save(folder / "saved");
        again.load(folder / "saved");
      }
      if (step > 5) CHECK(last == take(again, batch));
    }
    CHECK(last < .97 * first);
    CHECK(parameters_of(own) == parameters_of(plain));
    CHECK(parameters_of(own) == parameters_of(again));
  }
  CHECK(steps == 10 * covering.size);
  MESSAGE(covering.size << " of " << std::ranges::count(legality, true) << " legal combinations");
}

}  // namespace
}  // namespace sinter::detail::testing
