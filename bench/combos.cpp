// SPDX-License-Identifier: Apache-2.0
// What does each combination of precision, optimizer and memory policy cost and give? Each runs in
// a process of its own, for the time of a step, memory as planned and as the process had it, and
// the loss after some steps on real text. Combinations that no recipe may have are listed with the
// reason.
//   ./sinter bench combos [--only WORDS] [--threads N] [--steps N] [--data FILE] [--json FILE]
//                         [--svg FILE]
// --only runs the combinations whose names have all of the WORDS, joined by commas, such as
// Bf16,Checkpoint.
#include <boost/hana/cartesian_product.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <boost/hana/unpack.hpp>
#include <chrono>
#include <cmath>
#include <sinter/sinter.hpp>
#include <sstream>

#include "own_process.hpp"
#include "report.hpp"
#include "text.hpp"
#include "tune/why_not.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace hana = boost::hana;

namespace {

constexpr int context = 128;
template <class... Policies>
struct combo
    : Recipe<Gpt2<{.layers = 4, .heads = 4, .width = 128, .vocabulary = 256, .positions = context}>,
             Bytes<{.context = context}>, Batch<{.global = 8, .micro = 8}>, Policies...> {};

constexpr auto precisions = hana::tuple_t<Fp32, Tf32, Bf16, Fp16<>, Fp16<{.masters = false}>>;
using WithRates =
    PolicyList<AdamW<{.lr = 2e-3}>, Lion<{.lr = 2e-4}>, Sgd<{.lr = .2, .momentum = .9}>,
               Adafactor<{.lr = 2e-3}>, AdamW8bit<{.lr = 2e-3}>, Muon<{.lr = 2e-2}>>;
constexpr auto optimizers = []<class... P>(PolicyList<P...>) {
  return hana::tuple_t<P...>;
}(Joined<WithRates, OthersThan<Joined<WithRates, PolicyList<Adam<>>>, shipped::optimizer>>());
constexpr auto memories = hana::tuple_t<KeepAll, Checkpoint<{.policy = selective}>, Checkpoint<>>;

struct Run {
  int threads, steps;
  std::string text;
};

/// What a combination's process reports.
struct Measured {
  double milliseconds = 0, loss = 0;
  std::int64_t planned = 0, state = 0;
};

Measured train(std::shared_ptr<RecipeView> view, const Run& run) {
  Measured m;
  m.planned = view->plan->memory.total;
  m.state = view->plan->memory.optimizer;
  TrainerCore trainer(std::move(view), {.seed = 1, .threads = run.threads});
  const auto* text = reinterpret_cast<const unsigned char*>(run.text.data());
  ShuffledWindows windows(std::span(text, run.text.size()), {context, 8}, 1);
  std::vector<double> times;
  double sum = 0;
  int last = std::min(20, run.steps);
  for (int step = 0; step < run.steps;) {
    HostBatch batch;
    windows.next(batch);
    auto begin = std::chrono::steady_clock::now();
    Outcome outcome = trainer.step(batch);
    std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    auto* applied = std::get_if<Applied>(&outcome);
    if (!applied) continue;
    times.push_back(time.count());
    if (++step > run.steps - last) sum += applied->loss.mean() / last;
  }
  m.milliseconds = bench::median(times);
  m.loss = sum;
  return m;
}

struct Combination {
  std::string name;
  std::shared_ptr<RecipeView> (*view)();  // nullptr if no recipe may have it
  std::string reason;                     // why no recipe may
};

std::vector<Combination> all_combinations() {
  std::vector<Combination> list;
  hana::for_each(
      hana::cartesian_product(hana::make_tuple(precisions, optimizers, memories)), [&](auto tuple) {
        hana::unpack(tuple, [&](auto p, auto o, auto m) {
          using P = typename decltype(p)::type;
          using O = typename decltype(o)::type;
          using M = typename decltype(m)::type;
          using R = combo<P, O, M>;
          std::string name = tune::policy_text<P>() + ", " + detail::short_type_name<O>() + ", " +
                             tune::policy_text<M>();
          if constexpr (R::template may_exist<R>()) {
            static_assert(ready<R>());
            list.push_back({name, view_of<R>, ""});
          } else {
            list.push_back({name, nullptr, tune::why_not<R>()});
          }
        });
      });
  return list;
}

/// Whether a name has all of some words that commas join.
bool has_words(const std::string& name, const std::string& words) {
  std::istringstream all(words);
  for (std::string word; std::getline(all, word, ',');)
    if (name.find(word) == name.npos) return false;
  return true;
}

int run_bench(int argc, char** argv) {
  bench::CommandLine line("What combinations of precision, optimizer and memory cost and give.");
  int steps = 100;
  std::string only, file;
  line.add_count("--steps", steps, "Of training, for each combination");
  line.add_option("--only", only,
                  "Words, joined by commas: combinations whose names have them all");
  line.add_option("--data", file, "Text to train on, instead of our own headers");
  line.read(argc, argv);
  const Run run{line.threads, steps, bench::read_text(file)};
  bench::Report report(line);
  std::vector<std::pair<bench::Alone<Measured>, std::string>> done;
  std::vector<std::pair<std::string, std::string>> refused;
  std::vector<Combination> list = all_combinations();  // the first is Fp32, AdamW, KeepAll
  std::erase_if(list, [&, first = list.front().name](const Combination& c) {
    return c.name != first && !has_words(c.name, only);
  });
  for (const Combination& c : list) {
    if (!c.view) {
      refused.emplace_back(c.name, c.reason);
    } else if (const auto m = bench::measure_alone([&] { return train(c.view(), run); })) {
      done.emplace_back(*m, c.name);
    } else {
      std::fprintf(stderr, "left out: %s\n", c.name.c_str());
    }
  }
  if (done.empty()) return 1;
  const Measured plain = done.front().first.found;
  std::ranges::sort(done, {}, [](const auto& d) { return d.first.found.planned; });
  std::vector<bench::Row> rows;
  for (const auto& [alone, name] : done) {
    const auto& [m, peak_mib] = alone;
    char note[120];
    std::snprintf(note, sizeof note,
                  "planned %.2f MiB, process %.0f MiB, state %.2f MiB, loss %.3f",
                  double(m.planned) / (1 << 20), peak_mib, double(m.state) / (1 << 20), m.loss);
    rows.push_back({name,
                    m.milliseconds,
                    plain.milliseconds,
                    "Fp32, AdamW, KeepAll",
                    "ms/step",
                    m.loss - plain.loss,
                    std::isfinite(m.loss),
                    note,
                    {{"planned_bytes", double(m.planned)},
                     {"process_mib", peak_mib},
                     {"state_bytes", double(m.state)},
                     {"loss", m.loss}}});
  }
  report.print(rows);
  if (!refused.empty()) report.print_refused(std::move(refused));
  return report.write();
}

}  // namespace

int main(int argc, char** argv) { return bench::main_of(argc, argv, run_bench); }
