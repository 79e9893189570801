// SPDX-License-Identifier: Apache-2.0
// llm.c as a contestant of bench/step.cpp: its sources, compiled, and our weights in its format.
#pragma once
#include <array>
#include <cstdlib>
#include <fstream>

#include "contestants.hpp"

namespace sinter::detail::bench {

/// Writes a trainer's weights as llm.c reads them: a header of 256 numbers, then each kind of tensor
/// of all layers, matrices as out × in.
inline void write_llmc_weights(const Contest& w, const std::filesystem::path& file) {
  const TrainerCore trainer = w.trainer({.seed = 1, .threads = 1});
  std::ofstream out(file, std::ios::binary);
  std::array<std::int32_t, 256> header{20240326,          3,
                                       w.shape.positions, w.shape.vocabulary,
                                       w.shape.layers,    w.shape.heads,
                                       w.shape.width,     w.shape.vocabulary};
  out.write(reinterpret_cast<const char*>(header.data()), sizeof header);
  const auto put = [&](const std::string& name, int columns = 0) {
    const std::vector<double> from = trainer.parameter(name);
    std::vector<float> to(from.begin(), from.end());
    if (const std::size_t n = std::size_t(columns); n > 0)  // in × n becomes n × in
      for (std::size_t k = 0, in = from.size() / n; k < from.size(); ++k)
        to[k % n * in + k / n] = float(from[k]);
    out.write(reinterpret_cast<const char*>(to.data()), long(4 * to.size()));
  };
  put("wte.weight"), put("wpe.weight");
  const int c = w.shape.width;
  for (auto [part, columns] : {std::pair{"ln_1", 0},
                               {"attn.c_attn", 3 * c},
                               {"attn.c_proj", c},
                               {"ln_2", 0},
                               {"mlp.c_fc", 4 * c},
                               {"mlp.c_proj", c}})
    for (const char* kind : {".weight", ".bias"})
      for (int l = 0; l < w.shape.layers; ++l)
        put("h." + std::to_string(l) + "." + part + kind, *(kind + 1) == 'w' ? columns : 0);
  put("ln_f.weight"), put("ln_f.bias");
}

/// The command of the contestant, of llm.c's sources in `sources` and a job in `folder`. Compiles
/// them with the options of its Makefile.
/// throws    Error if they do not compile
inline std::vector<std::string> llmc_command(const Contest& w, const Settings& settings,
                                             const std::filesystem::path& sources,
                                             const std::filesystem::path& folder) {
  const std::string program = (folder / "llmc").string();
  const std::string compile = std::string("cc -Ofast -march=") +
                              (only_avx2() ? "x86-64-v3" : "native") + " -fopenmp -DOMP -w -I'" +
                              sources.string() + "' '" SINTER_BENCH_DIR "/peers/llmc.c' -o '" +
                              program + "' -lm >&2";
  if (std::system(compile.c_str()) != 0)
    throw Error("llm.c could not be compiled; the messages are above. Expected in " +
                sources.string() + ": llm.c's folder, with train_gpt2.c.");
  write_llmc_weights(w, folder / "weights.bin");
  const auto text = [](double number) { return std::to_string(number); };
  return {program,
          folder.string(),
          text(lr),
          text(beta2),
          text(weight_decay),
          text(max_norm),
          std::to_string(w.steps),
          std::to_string(sequences),
          std::to_string(settings.threads)};
}

}  // namespace sinter::detail::bench
