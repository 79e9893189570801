// SPDX-License-Identifier: Apache-2.0
// What does an optimizer's update cost, with the clipping of the gradients' norm, beside the best
// of Python libraries for the same parameters? All optimizers that Sinter ships run in fp32, in
// turns, each in a process of its own.
//   ./sinter bench optimizers [--threads N] [--rounds N] [--peers PYTHON|new] [--only TEXT]
//                             [--avx2] [--json FILE] [--svg FILE]
// Of ours, the instructions after the loop (norm, update) of a trainer's real steps are timed; of
// peers, the clipping and step() alone, on the same weights and first gradients. The "update
// difference" is that of the first step's change of all parameters, relative to it; where it is too
// large, a row is void. Without --peers ours are timed alone; what a Python lacks is left out.
#include "optimizer_contestants.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace fs = std::filesystem;

namespace {

using bench::Contestant, bench::OptimizerContest, bench::OptimizerPeer, bench::Settings,
    bench::Turns;

void write_floats(const fs::path& file, const std::vector<std::vector<double>>& all) {
  std::ofstream out(file, std::ios::binary);
  for (const auto& values : all) {
    const std::vector<float> floats(values.begin(), values.end());
    out.write(reinterpret_cast<const char*>(floats.data()), long(4 * floats.size()));
  }
  if (!out.flush()) throw Error("Cannot write " + file.string() + ".");
}

/// Writes what peers read: the weights before and after our first step, its gradients, and what
/// there is to know of each parameter.
void write_job(const OptimizerContest& w, const Settings& settings, const fs::path& folder) {
  TrainerCore trainer = w.trainer({.seed = 1, .threads = settings.threads});
  auto values = [&](auto&& of) {
    std::vector<std::vector<double>> all;
    for (const Parameter& p : trainer.parameters()) all.push_back(of(p.name));
    return all;
  };
  auto weight = [&](const std::string& name) { return trainer.parameter(name); };
  fs::create_directories(folder);
  write_floats(folder / "weights.bin", values(weight));
  bench::step_of(trainer, w, 0);
  write_floats(folder / "updated.bin", values(weight));
  write_floats(folder / "gradients.bin",
               values([&](const std::string& name) { return trainer.gradient(name); }));
  nlohmann::json job{{"lr", bench::lr},
                     {"weight_decay", bench::weight_decay},
                     {"momentum", bench::momentum},
                     {"max_norm", bench::max_norm},
                     {"steps", w.steps},
                     {"threads", settings.threads}};
  for (const Parameter& p : trainer.parameters())
    job["parameters"].push_back({{"shape", p.shape},
                                 {"decayed", p.decayed},
                                 {"hidden", is_hidden_matrix(*p.layer, p.number)},
                                 {"fan_out", p.layer->params[p.number].fan_out},
                                 {"embedding", p.layer->ids_below > 0}});
  std::ofstream(folder / "job.json") << job;
}

std::vector<bench::Row> rows_of(const OptimizerContest& w, const Contestant& ours,
                                const OptimizerPeer& peer, const Contestant& theirs) {
  const double apart = theirs.facts.at("apart");
  const bool valid = apart < peer.tolerance;
  return {{w.name, bench::median(ours.milliseconds), bench::median(theirs.milliseconds), peer.name,
           "ms", apart, valid, bench::least_to_most(ours.milliseconds, theirs.milliseconds)},
          {w.name + ": state", ours.facts.at("state"), theirs.facts.at("state"), peer.name,
           "bytes a parameter", apart, valid}};
}

std::vector<bench::Row> measure(int number, const Settings& settings) {
  const OptimizerContest& w = bench::optimizer_contests()[std::size_t(number)];
  const fs::path folder = settings.folder / std::to_string(number);
  Turns turns(settings);
  const Contestant& ours = turns.add_own("Sinter", {std::to_string(number)});
  std::vector<std::pair<const OptimizerPeer*, const Contestant*>> peers;
  if (!settings.python.empty()) {
    setenv("TORCHINDUCTOR_CACHE_DIR", (settings.folder / "inductor").c_str(), 1);
    write_job(w, settings, folder);
    for (const OptimizerPeer& peer : w.peers)
      if (auto* c = turns.add_python(peer.name, "optimizers.py", peer.word, folder))
        peers.push_back({&peer, c});
  }
  turns.take();
  fs::remove_all(folder);
  if (peers.empty())
    std::printf("%s: %.3f ms, alone\n", w.name.c_str(), bench::median(ours.milliseconds));
  std::vector<bench::Row> rows;
  for (auto [peer, contestant] : peers)
    for (bench::Row& row : rows_of(w, ours, *peer, *contestant)) rows.push_back(std::move(row));
  return rows;
}

int run_bench(int argc, char** argv) {
  const Settings settings("Clipping and update against Python's optimizers.", argc, argv, 15);
  bench::Report report(settings, "update");
  const auto& contests = bench::optimizer_contests();
  for (int number = 0; number < int(contests.size()); ++number)
    if (settings.wants(contests[std::size_t(number)].name)) report.print(measure(number, settings));
  return report.write();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 4 || std::string_view(argv[1]) != "--contestant") return run_bench(argc, argv);
    bench::obey_avx2();
    bench::contest_of_optimizer(std::stoul(argv[2]), std::stoi(argv[3]));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
