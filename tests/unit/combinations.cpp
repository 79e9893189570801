// A set of combinations in which every legal pair of policies occurs trains; the compiler chooses
// it. (tests/static verifies every legal combination.)
#include <boost/hana/at.hpp>
#include <boost/hana/length.hpp>

#include "files_support.hpp"
#include "support/batches.hpp"
#include "support/combinations.hpp"
#include "support/trainers.hpp"

namespace sinter::testing {
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

/// A pair of policies of two slots, as a number.
constexpr int most = 8;
constexpr int pair(const Choice& c, int a, int b) {
  return ((a * 4 + b) * most + c[a]) * most + c[b];
}
constexpr auto visit_pairs = [](const Choice& c, auto visit) {
  for (int a = 0; a < 4; ++a)
    for (int b = a + 1; b < 4; ++b) visit(pair(c, a, b));
};

/// Greedy: the tuple with most pairs that no chosen one has, until none has any.
constexpr std::vector<int> covering() {
  std::array<bool, 16 * most * most> covered{};
  std::vector<int> chosen;
  while (true) {
    int best = -1, gain = 0;
    for (int t = 0; t < tuples; ++t) {
      if (!legality[t]) continue;
      int fresh = 0;
      visit_pairs(choice_of(t), [&](int p) { fresh += !covered[p]; });
      if (fresh > gain) best = t, gain = fresh;
    }
    if (best < 0) return chosen;
    chosen.push_back(best);
    visit_pairs(choice_of(best), [&](int p) { covered[p] = true; });
  }
}
constexpr int covering_size = int(covering().size());
constexpr auto covering_set = [] {
  std::array<int, covering_size> set{};
  std::ranges::copy(covering(), set.begin());
  return set;
}();

struct Combination {
  RecipeView (*own)(), (*plain)(), (*whole)();
  Element gradient;
};
template <int Tuple>
Combination combination() {
  using R = Chosen<Tuple>;
  using P = typename R::precision;
  using O = typename R::optimizer;
  return {view_of<R>, view_of<Net<P, O, KeepAll, typename R::batch>>,
          view_of<Net<P, O, KeepAll, Whole>>, element_of<typename P::compute>};
}
std::vector<Combination> combinations() {
  return []<std::size_t... K>(std::index_sequence<K...>) {
    return std::vector{combination<covering_set[K]>()...};
  }(std::make_index_sequence<covering_size>());
}

HostBatch rows(int step) { return regression_batch({1, 1, 1, 1}, 8, 3, std::uint64_t(step)); }
/// A step; one that a loss scale skips is taken again.
double take(TrainerCore& trainer, int step) {
  for (int tries = 0; tries < 30; ++tries)
    if (Outcome outcome = trainer.step(rows(step)); auto* a = std::get_if<Applied>(&outcome))
      return a->loss.mean();
  FAIL("the step is never applied");
  return 0;
}
/// Sums over rows, taken in other parts: rounded to the type that gradients have at the end, and
/// for narrow types the activations' gradients, too, which are scaled anew.
double split_bound(Element compute) {
  return compute == Element::f64 ? 1e-12 : compute == Element::f32 ? 1e-5 : 1e-2;
}

TEST_CASE("every legal pair of policies trains, as its plain counterpart, and resumes") {
  constexpr TrainerSettings settings{.seed = 1, .threads = 1};
  int steps = 0;
  for (const Combination& c : combinations()) {
    TrainerCore own(c.own(), settings), plain(c.plain(), settings), whole(c.whole(), settings),
        again(c.own(), {.seed = 2, .threads = 1});
    std::string name;
    for (const std::string& policy : own.recipe().policies) name += policy + " ";
    CAPTURE(name);
    TemporaryFolder folder;
    double first = 0, last = 0;
    for (int step = 1; step <= 10; ++step, ++steps) {
      last = take(own, step % 2);
      CHECK(last == take(plain, step % 2));
      if (step == 1) {
        CHECK(relative_difference(last, take(whole, 1)) < split_bound(c.gradient));
        NamedNumbers gradients = gradients_of(own);
        for (const auto& [parameter, want] : gradients_of(whole))
          CHECK(relative_difference(gradients[parameter], want) < split_bound(c.gradient));
      }
      if (step <= 2) first += last / 2;
      if (step == 5) {
        own.save(folder / "saved");
        again.load(folder / "saved");
      }
      if (step > 5) CHECK(last == take(again, step % 2));
    }
    CHECK(last < first);
    CHECK(parameters_of(own) == parameters_of(plain));
    CHECK(parameters_of(own) == parameters_of(again));
  }
  CHECK(steps == 10 * covering_size);
  MESSAGE(covering_size << " of " << std::ranges::count(legality, true) << " legal combinations");
}

}  // namespace
}  // namespace sinter::testing
