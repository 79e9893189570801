// SPDX-License-Identifier: Apache-2.0
// Does Sinter learn as well as PyTorch? A GPT, a BERT and an encoder-decoder, 64 wide, learn the bytes
// of a text in fp32, in bf16, and with the optimizers AdamW8bit, Adafactor and Muon. The models of
// transformers begin with the same weights and take the same batches, with the same clipping, warm-up
// and cosine, at a peak rate of 1e-3.
//   ./sinter bench learn [--peers PYTHON|new] [--data FILE] [--steps N] [--warmup N] [--rounds N]
//                        [--threads N] [--only NAME] [--json FILE] [--svg FILE]
// FILE is any text, by default this project's headers; its last tenth is held out. Each round is a run
// with weights and an order of batches of its own. With --json what was learnt is kept, and the same
// command goes on where one was stopped; it is an error if the file is of other settings. The measures,
// over all rounds:
//   the first 100 losses: the largest |difference| from the peer's; the bar is 1e-3 in fp32, and 1e-2
//       against bitsandbytes' AdamW8bit, transformers' Adafactor and torch.optim.Muon
//   the distance of Bf16 from Fp32, the mean |difference| of the first 100 losses, may be 3 times that
//       of autocast to bf16 from PyTorch's fp32
//   the final loss, on what is held out, is the mean of the rounds, and may be 1.01 times the peer's
// Without --peers there are our own figures alone. What a Python lacks is left out and named. The
// status is 1 if a bar is missed or a peer left out. --only takes what has NAME in its name, such as
// Muon or "BERT, Bf16"; a NAME that is in none lists them.
#include "kept_table.hpp"
#include "learn_table.hpp"
#include "text.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace learn = sinter::detail::bench::learn;

namespace {

using bench::Settings;
using learn::Course, learn::methods, learn::Method, learn::Subject, learn::subjects;

bool is_wanted(const Settings& settings, const Subject& subject, std::size_t method) {
  return settings.wants(subject.with(methods[method]));
}
/// Whether it is to be trained: Fp32 also where Bf16 is measured by its distance from that.
bool is_needed(const Settings& settings, const Subject& subject, std::size_t method) {
  return is_wanted(settings, subject, method) ||
         (method == learn::fp32 && is_wanted(settings, subject, learn::bf16));
}
/// Calls use(subject, number of the method) where chosen(settings, subject, number) holds.
void for_each(const Settings& settings, auto&& chosen, auto&& use) {
  for (const Subject& subject : subjects)
    for (std::size_t m = 0; m < methods.size(); ++m)
      if (chosen(settings, subject, m)) use(subject, m);
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const Subject& subject : subjects)
    for (const Method& method : methods) names.push_back(subject.with(method));
  return names;
}

/// Trains what the results lack, and calls keep() after each.
void learn_rest(const Settings& settings, const Course& course, learn::Results& results,
                auto&& keep) {
  for_each(settings, is_needed, [&](const Subject& subject, std::size_t m) {
    const std::string name = subject.with(methods[m]);
    std::fprintf(stderr, "%s\n", name.c_str());
    if (!results.ours.contains(name)) {
      results.ours[name] = learn::learn(subject, m, course);
      keep();
    }
    if (settings.python.empty() || results.peers.contains(name)) return;
    const auto folder = settings.folder / subject.name;
    if (!std::filesystem::exists(folder)) learn::write_job(subject, course, folder);
    try {
      results.peers[name] = learn::learn_as_peer(methods[m], course, settings.python, folder);
      keep();
    } catch (const Error& e) {
      std::fprintf(stderr, "left out: %s\n", e.what());
    }
  });
}

struct Table {
  std::vector<learn::Row> rows;
  std::vector<std::string> not_compared;  // as a peer did not run
};
/// The rows of what was learnt so far.
Table table_of(const Settings& settings, const learn::Results& results) {
  Table table;
  for_each(settings, is_wanted, [&](const Subject& subject, std::size_t m) {
    if (!results.ours.contains(subject.with(methods[m]))) return;
    const std::vector<learn::Row> rows = results.rows_of(subject, methods[m]);
    if (!std::ranges::all_of(rows, [](const learn::Row& row) { return row.bar.has_value(); }))
      table.not_compared.push_back(subject.with(methods[m]) + ", beside " + methods[m].peer);
    table.rows.insert(table.rows.end(), rows.begin(), rows.end());
  });
  return table;
}

void write_json(const Settings& settings, const learn::Json& about, const learn::Results& results) {
  if (settings.json.empty()) return;
  const Table table = table_of(settings, results);
  learn::Json all = bench::about_run(settings.threads, settings.typed());
  all["settings"] = about;
  all["rows"] = learn::Json::array();
  for (const learn::Row& row : table.rows) all["rows"].push_back(learn::json_of(row));
  all["not_compared"] = table.not_compared;
  all["ours"] = learn::json_of(results.ours);
  all["peers"] = learn::json_of(results.peers);
  write_file_atomically(settings.json, all.dump(1) + "\n");
}

learn::Results results_before(const std::string& path, const learn::Json& about) {
  const learn::Json before = bench::table_before(path, about, "ours");
  if (before.is_null()) return {};
  return {learn::runs_of(before["ours"]),
          learn::runs_of(before.value("peers", learn::Json::object()))};
}

/// Says what is missing. Returns whether nothing is that was asked for.
bool is_whole(const Settings& settings, const Table& table) {
  if (settings.python.empty()) {
    std::printf(
        "\nNothing is compared with PyTorch. Name a Python that has torch, transformers and "
        "bitsandbytes: --peers PYTHON|new.\n");
    return true;
  }
  if (table.not_compared.empty()) return true;
  std::printf("\nNot compared, as the peer did not run; its messages are on standard error:\n");
  for (const std::string& name : table.not_compared) std::printf("- %s\n", name.c_str());
  return false;
}

int run_bench(int argc, char** argv) {
  std::string data;
  int steps = 300, warmup = 10;
  const Settings settings(
      "Whether Sinter learns as well as PyTorch.", argc, argv, 3, [&](bench::CommandLine& line) {
        line.add_option("--data", data, "A text")->default_str("this project's headers");
        line.add_count("--steps", steps, "Of each run");
        line.add_count("--warmup", warmup, "Steps over which the rate rises");
      });
  settings.require_one_of(all_names());
  if (steps <= warmup)
    throw Error("--steps is " + std::to_string(steps) + ", and --warmup " + std::to_string(warmup) +
                ". Give more steps than the warm-up has.");
  const std::string text = bench::read_text(data);
  const Course course{learn::Text(text), steps, warmup, settings.rounds, settings.threads};
  const learn::Json about{{"program", hash_of_file(settings.self)},
                          {"processor", processor_text()},
                          {"data", hash_of(text)},
                          {"steps", steps},
                          {"warmup", warmup},
                          {"rounds", settings.rounds},
                          {"threads", settings.threads}};
  learn::Results results = results_before(settings.json, about);
  bench::print_machine(settings);
  learn_rest(settings, course, results, [&] { write_json(settings, about, results); });
  const Table table = table_of(settings, results);
  learn::print(table.rows);
  bool well = is_whole(settings, table);
  well &= std::ranges::all_of(table.rows, &learn::Row::met);
  write_json(settings, about, results);
  if (!settings.svg.empty()) well &= learn::draw(settings.svg, table.rows);
  return well ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return bench::main_of(argc, argv, run_bench); }
