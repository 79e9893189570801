// SPDX-License-Identifier: Apache-2.0
// How long does a new token take, beside the programs that people generate with? All have the same
// random weights of a GPT-2 and the same prompts of 16 tokens, and take the likeliest token 256
// times, in turns, each in a process of its own. A token's time is the processor time of all threads
// for 256 tokens without that for the first, over 255. A row whose texts differ is void.
//   ./sinter bench decode [--threads N] [--rounds N] [--peers PYTHON|new] [--against TEXT]
//                         [--only TEXT] [--json FILE] [--svg FILE]
// "reading alone" reads as many bytes as the weights have, in pages as large, once for each token, by
// simple sums: the limit of a processor whose cache does not hold them. With --peers also transformers'
// generate(), CTranslate2 with float32 and int8, and llama.cpp with float32, 16 bits and Q8_0, in a Python
// that has them (bench/peers/requirements.txt). llama.cpp keeps keys and values in 16 bits, its default.
#include <ctime>
#include <numeric>

#include "contest.hpp"
#include "hardware/large_pages.hpp"
#include "hugging_face/export_gguf.hpp"
#include "recipes.hpp"
#include "report.hpp"
#include "sinter/generate/generator.hpp"
#include "sinter/hardware/memory.hpp"
#include "trainer/state_json.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace fs = std::filesystem;

namespace {

using bench::Contestant, bench::Settings, bench::Turns;

constexpr int prompt_tokens = 16, new_tokens = 256;

/// A model, and how many texts it continues at once.
struct Work {
  std::string name;
  Gpt2Options shape;
  int texts;
  TrainerCore (*trainer)(TrainerSettings);
  std::unique_ptr<GeneratorCore> (*generator)(TrainerSettings);
  std::unique_ptr<GeneratorCore> (*half)(TrainerSettings);
  std::unique_ptr<GeneratorCore> (*int8)(TrainerSettings);
};

template <Gpt2Options Shape, class... Policies>
struct writes : Recipe<Gpt2<Shape>, bench::Tokens<Shape.positions, Shape.vocabulary>,
                       Batch<{.global = 1, .micro = 1}>, Policies...> {};
template <class R>
std::unique_ptr<GeneratorCore> make_generator(TrainerSettings settings) {
  return std::make_unique<Generator<R>>(settings);
}
template <Gpt2Options Shape>
Work work(std::string name, int texts) {
  return {std::move(name),
          Shape,
          texts,
          bench::make_trainer<writes<Shape, Fp32>>,
          make_generator<writes<Shape, Fp32>>,
          make_generator<writes<Shape, Bf16>>,
          make_generator<writes<Shape, Quantize<>>>};
}

constexpr Gpt2Options small{
    .layers = 6, .heads = 8, .width = 256, .vocabulary = 4096, .positions = 272};
constexpr Gpt2Options large{
    .layers = 12, .heads = 12, .width = 768, .vocabulary = 50257, .positions = 1024};

const std::vector<Work>& works() {
  static const std::vector<Work> all{work<small>("GPT 256 wide, 6 layers, one text", 1),
                                     work<small>("GPT 256 wide, 6 layers, 8 texts", 8),
                                     work<large>("GPT-2 124M, one text", 1),
                                     work<large>("GPT-2 124M, 8 texts", 8)};
  return all;
}

/// The prompt of a text in a round.
std::vector<std::int32_t> prompt(const Work& w, int round, int text) {
  std::vector<std::int32_t> tokens;
  std::uint64_t state = kernel::mix(std::uint64_t(round * 100 + text));
  for (int k = 0; k < prompt_tokens; ++k) {
    state = kernel::mix(state);
    tokens.push_back(std::int32_t(state % std::uint64_t(w.shape.vocabulary)));
  }
  return tokens;
}

double processor_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

/// Takes rounds of generate(round, tokens), which returns the sum of the tokens that it wrote.
void serve(auto&& generate) {
  int round = 0;
  const auto report = [&] {
    const double begin = processor_seconds();
    generate(round, 1);
    const double first = processor_seconds();
    const double sum = generate(round, new_tokens);
    const double all = processor_seconds();
    ++round;
    std::printf("STEP %.6f %.0f\n", 1e3 * (all - first - (first - begin)) / (new_tokens - 1), sum);
    std::fflush(stdout);
  };
  report();
  while (std::fgetc(stdin) != EOF) {
    while (std::fgetc(stdin) != '\n') {
    }
    report();
  }
}

void generate_with_ours(const Work& w, GeneratorCore& generator, const fs::path& folder) {
  generator.load_weights(folder / "weights");
  serve([&](int round, int count) {
    generator.clear();
    for (int t = 0; t < w.texts; ++t) generator.add({.tokens = prompt(w, round, t)});
    std::vector<int> parents(std::size_t(w.texts));
    std::iota(parents.begin(), parents.end(), 0);
    std::vector<std::int32_t> next(parents.size());
    double sum = 0;
    for (int k = 0; k < count; ++k) {
      for (int t = 0; t < w.texts; ++t) {
        const auto logits = generator.logits(t);
        next[std::size_t(t)] = std::int32_t(std::ranges::max_element(logits) - logits.begin());
        sum += next[std::size_t(t)];
      }
      if (k + 1 < count) generator.extend(parents, next);
    }
    return sum;
  });
}

/// Sums floats as fast as the processor reads them.
#if defined(__x86_64__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
double sum_of(const float* from, std::size_t count) {
  float lanes[64] = {};
  for (std::size_t i = 0; i + 64 <= count; i += 64)
    for (std::size_t lane = 0; lane < 64; ++lane) lanes[lane] += from[i + lane];
  return std::accumulate(lanes, lanes + 64, 0.);
}

void read_alone(const Work& w, int threads) {
  const auto parameters = std::size_t(w.trainer({.seed = 1, .threads = 1}).plan().parameters);
  kernel::Stream stream(threads);
  const DeviceMemory memory(std::int64_t(4 * parameters));
  auto* const weights =
      reinterpret_cast<float*>(in_large_pages(memory.bytes(), std::int64_t(4 * parameters)).data());
  std::fill_n(weights, parameters, 1.f);
  std::vector<double> sums(std::size_t(threads), 0.);
  serve([&](int, int count) {
    for (int k = 0; k < count; ++k)
      stream.parallel(threads, [&](int part) {
        const std::size_t begin = parameters * std::size_t(part) / std::size_t(threads);
        const std::size_t end = parameters * std::size_t(part + 1) / std::size_t(threads);
        sums[std::size_t(part)] += sum_of(weights + begin, end - begin);
      });
    return 0.;
  });
}

int contest(char** words) {
  const Work& w = works().at(std::stoul(words[1]));
  const int threads = std::stoi(words[3]);
  const std::string who = words[0];
  if (who == "reading") {
    read_alone(w, threads);
  } else {
    const auto make = who == "bf16" ? w.half : who == "int8" ? w.int8 : w.generator;
    generate_with_ours(w, *make({.threads = threads}), words[2]);
  }
  return 0;
}

/// Writes the weights as a folder, and as files for llama.cpp.
void write_weights(const Work& w, const Settings& settings, const fs::path& folder) {
  TrainerCore trainer = w.trainer({.seed = 1, .threads = 1});
  trainer.export_to(folder / "weights");
  if (settings.python.empty()) return;
  for (auto [dtype, name] : {std::pair{Dtype::f32, "float32.gguf"},
                             {Dtype::bf16, "bfloat16.gguf"},
                             {Dtype::f16, "float16.gguf"}})
    trainer.show_weights([&](std::span<const TensorView> weights) {
      (void)hugging_face::export_gguf({.bytes = true}, config_json(trainer.recipe().hugging_face),
                                      weights, dtype, folder / name);
    });
}

void write_job(const Work& w, const Settings& settings, const fs::path& folder) {
  fs::create_directories(folder);
  write_weights(w, settings, folder);
  nlohmann::json prompts;
  for (int round = 0; round < settings.rounds + 2; ++round) {
    nlohmann::json texts;
    for (int t = 0; t < w.texts; ++t) texts.push_back(prompt(w, round, t));
    prompts.push_back(texts);
  }
  std::ofstream(folder / "job.json") << nlohmann::json{{"prompts", prompts},
                                                       {"new_tokens", new_tokens},
                                                       {"vocabulary", w.shape.vocabulary},
                                                       {"threads", settings.threads}};
}

/// A program that generates, and which of ours has as many bits.
struct Peer {
  const char *name, *word;  // the word is for peers/decode.py
  const Contestant* mine;
  bool same_text;  // its numbers have all bits of ours
  const Contestant* contestant = nullptr;
};

/// Adds the peers that are wanted and that run here.
std::vector<Peer> add_peers(Turns& turns, const Settings& settings, const std::string& against,
                            const fs::path& folder, const Contestant& fp32, const Contestant& bf16,
                            const Contestant& int8) {
  std::vector<Peer> peers{{"CTranslate2, int8", "ctranslate2_int8", &int8, false},
                          {"transformers, generate()", "transformers", &fp32, true},
                          {"CTranslate2, float32", "ctranslate2", &fp32, true},
                          {"llama.cpp, float32", "llama_float32", &fp32, true},
                          {"llama.cpp, bfloat16", "llama_bfloat16", &bf16, false},
                          {"llama.cpp, float16", "llama_float16", &bf16, false},
                          {"llama.cpp, Q8_0", "llama_q8_0", &int8, false}};
  if (settings.python.empty()) peers.clear();
  for (Peer& peer : peers)
    if (std::string_view(peer.name).find(against) != std::string_view::npos)
      peer.contestant = turns.add_python(peer.name, "decode.py", peer.word, folder);
  std::erase_if(peers, [](const Peer& peer) { return !peer.contestant; });
  return peers;
}

std::vector<bench::Row> measure(int number, const Settings& settings, const std::string& against) {
  const Work& w = works()[std::size_t(number)];
  const fs::path folder = settings.folder / std::to_string(number);
  write_job(w, settings, folder);
  const auto own = [&](const char* word) {
    return std::vector<std::string>{word, std::to_string(number), folder.string()};
  };
  Turns turns(settings);
  const Contestant& ours = turns.add_own("Sinter", own("fp32"));
  const Contestant& half = turns.add_own("Sinter, Bf16", own("bf16"));
  const Contestant& int8 = turns.add_own("Sinter, int8", own("int8"));
  const Contestant& alone = turns.add_own("reading alone", own("reading"));
  const std::vector<Peer> peers = add_peers(turns, settings, against, folder, ours, half, int8);
  turns.take();
  std::vector<bench::Row> rows;
  const auto name_of = [&](const Contestant& mine) {
    return w.name + (&mine == &ours ? "" : ", " + mine.name);
  };
  const auto row = [&](const Contestant& mine, const Contestant& peer, bool same_text) {
    const double apart = same_text ? mine.apart_from(peer) : 0;
    rows.push_back({name_of(mine), bench::median(mine.milliseconds) / w.texts,
                    bench::median(peer.milliseconds) / w.texts, peer.name, "ms/token", apart,
                    apart == 0, bench::least_to_most(mine.milliseconds, peer.milliseconds)});
  };
  const auto memory = [&](const Contestant& mine, const Contestant& peer) {
    rows.push_back({name_of(mine) + ": peak memory", mine.peak_mib, peer.peak_mib, peer.name, "MiB",
                    0, true, "of the process"});
  };
  row(ours, alone, false);
  row(half, ours, false);
  row(int8, ours, false);
  for (const Peer& peer : peers) row(*peer.mine, *peer.contestant, peer.same_text);
  memory(ours, half);
  memory(ours, int8);
  for (const Peer& peer : peers) memory(*peer.mine, *peer.contestant);
  return rows;
}

int run_bench(int argc, char** argv) {
  std::string against;
  const Settings settings("A new token of a text against other programs.", argc, argv, 5,
                          [&](bench::CommandLine& line) {
                            line.add_option("--against", against, "Peers whose names have this");
                          });
  bench::Report report(settings, "text");
  for (int number = 0; number < int(works().size()); ++number)
    if (settings.wants(works()[std::size_t(number)].name))
      report.print(measure(number, settings, against));
  return report.write();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 6 && std::string_view(argv[1]) == "--contestant") return contest(argv + 2);
  return run_bench(argc, argv);
} catch (const std::exception& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return 1;
}
