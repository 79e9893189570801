// SPDX-License-Identifier: Apache-2.0
// Models against Hugging Face's: references that scripts have written, and the library itself.
#pragma once
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "support/folder.hpp"
#include "support/python.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {

/// Gives all parameters the weights of the references: a formula of names and places.
inline void set_reference_weights(TrainerCore& trainer) {
  for (const Parameter& p : trainer.parameters()) {
    std::int64_t salt = 0;
    for (std::size_t k = 0; k < p.name.size(); ++k) salt += std::int64_t(k + 1) * p.name[k];
    const bool norm = (p.name.find("norm") != p.name.npos || p.name.find("Norm") != p.name.npos) &&
                      p.name.ends_with(".weight");
    Numbers values;
    for (std::int64_t k = 0; k < p.size; ++k)
      values.push_back(double((k * 7919 + salt * 104729) % 2003 - 1001) / 4004 + norm);
    trainer.set_parameter(p.name, values);
  }
}

/// What a model has made of such weights.
struct Reference {
  Numbers logits, losses;
};

/// The models of a file in tests/data: the name of each on a line, rows of logits, and behind
/// "losses" those of its steps.
inline std::map<std::string, Reference> read_references(const std::string& file_name) {
  std::ifstream file(SINTER_SOURCE_DIR "/tests/data/" + file_name);
  std::map<std::string, Reference> all;
  std::string name;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words_of(line);
    if (std::isalpha(line[0]) && line.find(' ') == std::string::npos) {
      name = line;
      continue;
    }
    const bool losses = line.starts_with("losses ");
    if (losses) words_of.ignore(7);
    Reference& reference = all[name];
    for (double x; words_of >> x;) (losses ? reference.losses : reference.logits).push_back(x);
  }
  return all;
}

/// The logits that transformers gives to what was exported, for lines that
/// tests/support/logits_of_transformers.py takes; none where there is no such Python.
inline Numbers logits_of_library(const TrainerCore& trainer, const std::string& architecture,
                                 const std::string& lines) {
  const auto python = python_with("torch, transformers");
  if (!python) return {};
  TemporaryFolder folder;
  const std::string exported = folder / "exported", out = folder / "out", in = folder / "in";
  trainer.export_to(exported, 4096);  // in shards
  REQUIRE(std::filesystem::exists(exported + "/model.safetensors.index.json"));
  std::ofstream(in) << lines;
  REQUIRE(std::system(("'" + *python +
                       "' '" SINTER_SOURCE_DIR "/tests/support/logits_of_transformers.py' '" +
                       exported + "' " + architecture + " < '" + in + "' > '" + out + "'")
                          .c_str()) == 0);
  std::ifstream file(out);
  Numbers logits;
  for (double x; file >> x;) logits.push_back(x);
  return logits;
}

/// The numbers of a prediction.
inline Numbers logits_of(TrainerCore& trainer, const HostBatch& batch) {
  const Prediction prediction = trainer.predict(batch);
  return {prediction.values.begin(), prediction.values.end()};
}

/// A line for each sequence, of its ids in the first inputs.
inline std::string lines_of(const HostBatch& batch, int inputs = 1) {
  std::string text;
  for (int s = 0; s < batch.sequences(); ++s)
    for (int input = 0; input < inputs; ++input) {
      for (int row = batch.starts[std::size_t(s)]; row < batch.starts[std::size_t(s) + 1]; ++row)
        text += std::to_string(batch.ids[std::size_t(input)][std::size_t(row)]) + " ";
      text += input + 1 == inputs ? "\n" : "|";
    }
  return text;
}

/// Compares a trainer with a reference that began with the same weights: logits, which the library
/// gives for these lines, too, and the losses of 20 steps.
inline void compare_with_reference(TrainerCore& trainer, const Reference& want,
                                   const std::string& architecture, const HostBatch& batch,
                                   const std::string& lines, auto predicted) {
  REQUIRE(want.losses.size() == 20);
  set_reference_weights(trainer);
  CHECK(relative_difference(predicted(trainer, batch), want.logits) < 1e-5);
  if (const Numbers library = logits_of_library(trainer, architecture, lines); !library.empty())
    CHECK(relative_difference(library, want.logits) < 1e-5);
  for (double loss : want.losses) {
    CAPTURE(loss);
    CHECK(relative_difference(trainer.evaluate(batch).mean(), loss) < 1e-4);
    CHECK(relative_difference(applied(trainer, batch).loss.mean(), loss) < 1e-4);
  }
}

}  // namespace sinter::detail::testing
