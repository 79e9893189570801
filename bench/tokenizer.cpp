// SPDX-License-Identifier: Apache-2.0
// How fast does GPT-2's tokenizer turn text into ids, beside tokenizers, tiktoken and gigatoken? One
// thread each, in turns, over the lines of one text, each a document.
//   ./sinter bench tokenizer --tokenizer FOLDER [--text FILE] [--rounds N] [--peers PYTHON|new]
//                            [--json FILE] [--svg FILE]
// FOLDER holds encoder.json and vocab.bpe; the text is that of our headers unless a file is named.
// A row is void unless both give equally many ids. Without --peers ours is timed alone.
#include "sinter/data/tokenizer/tokenizer.hpp"

#include "contest.hpp"
#include "text.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace fs = std::filesystem;

namespace {

using bench::Contestant;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// bench_tokenizer --contestant FOLDER TEXT THREADS. A step is the whole text, its loss the number of ids.
void contest(const std::string& folder, const std::string& file) {
  const Tokenizer tokenizer = load_tokenizer(folder);
  const std::string text = bench::read_text(file);
  const std::vector<std::string_view> lines = lines_of(text);
  bench::serve_rounds(1, [&] {
    std::size_t ids = 0;
    for (std::string_view line : lines) ids += tokenizer.encode(line).size();
    return double(ids);
  });
}

int run_bench(int argc, char** argv) {
  std::string tokenizer, text;
  const bench::Settings settings(
      "GPT-2's tokenizer against Python's.", argc, argv, 9, [&](bench::CommandLine& line) {
        line.add_option("--tokenizer", tokenizer, "Folder of encoder.json and vocab.bpe")
            ->required();
        line.add_option("--text", text, "Text to take; else that of our headers");
      });
  const std::string all = bench::read_text(text);
  double bytes = 0;
  for (std::string_view line : lines_of(all)) bytes += double(line.size());
  fs::create_directories(settings.folder);
  const std::string copy = (settings.folder / "text").string();
  std::ofstream(copy, std::ios::binary) << all;
  std::ofstream(settings.folder / "job.json")
      << nlohmann::json{{"tokenizer", fs::absolute(tokenizer).string()}};

  bench::Turns turns(settings);
  const Contestant& ours = turns.add_own("Sinter", {tokenizer, copy});
  std::vector<const Contestant*> peers;
  if (!settings.python.empty())
    for (const char* peer : {"tokenizers", "tiktoken", "gigatoken"})
      if (auto* c = turns.add_python(peer, "tokenizer.py", peer, settings.folder))
        peers.push_back(c);
  turns.take();
  const double mine = bench::median(ours.milliseconds);
  std::printf("Sinter: %.1f MB in %.1f ms, %.1f MB/s\n", bytes / 1e6, mine, bytes / 1e3 / mine);
  bench::Report report(settings, "number of ids");
  std::vector<bench::Row> rows;
  for (const Contestant* peer : peers)
    rows.push_back({"text to ids", mine, bench::median(peer->milliseconds), peer->name, "ms",
                    std::abs(ours.losses[0] - peer->losses[0]), ours.losses[0] == peer->losses[0],
                    bench::least_to_most(ours.milliseconds, peer->milliseconds)});
  if (!rows.empty()) report.print(rows);
  return report.write();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 5 || std::string_view(argv[1]) != "--contestant") return run_bench(argc, argv);
    contest(argv[2], argv[3]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
