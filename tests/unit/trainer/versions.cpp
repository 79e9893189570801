// SPDX-License-Identifier: Apache-2.0
// One version, everywhere; and a checkpoint of an older one that must stay readable.
#include <fstream>
#include <regex>
#include <sstream>

#include "sinter/files/checkpoint.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/schedule/plateau.hpp"
#include "sinter/version.hpp"
#include "support/trainers.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing::versions_tests {

const fs::path source_dir = SINTER_SOURCE_DIR;

std::string first_match(const char* file, const char* pattern) {
  const std::string text = get(source_dir / file);
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? match[1].str() : "no match";
}

TEST_CASE("the version is CMake's, and the newest of the changelog") {
  CHECK(version() == first_match("CMakeLists.txt", "VERSION (\\d+\\.\\d+\\.\\d+)"));
  CHECK(version() == first_match("CHANGELOG.md", "## \\[(\\d+\\.\\d+\\.\\d+)\\]"));
}

// What wrote tests/data/checkpoint_0.1, before manifests said who wrote them: three steps and a
// validation loss.
struct small_line
    : Recipe<Mlp<{.in = 1, .hidden = 2, .out = 1}>, AdamW<{.lr = 1e-2}>, Average<{.decay = 0.5}>,
             Plateau<{.patience = 3}>, Batch<{.global = 4, .micro = 2}>> {};

/// The bytes of a file of hexadecimal digits.
std::string bytes_of_hex(const fs::path& path) {
  std::string digits, bytes;
  for (char c : get(path))
    if (c != '\n') digits += c;
  for (std::size_t k = 0; k < digits.size(); k += 2)
    bytes += char(std::stoi(digits.substr(k, 2), nullptr, 16));
  return bytes;
}

/// Resumes the tensors of the first version with the manifest that a version wrote of them, which says
/// something of classifiers.
void check_resumes(const char* manifest, const std::string& written_by,
                   const std::string& classifier) {
  CAPTURE(manifest);
  const fs::path stored = source_dir / "tests/data/checkpoint_0.1";
  TemporaryFolder folder;
  const fs::path old = folder / "old";
  fs::create_directory(old);
  for (const char* name : {"model.safetensors", "state.safetensors"})
    std::ofstream(old / name, std::ios::binary)
        << bytes_of_hex(stored / (std::string(name) + ".hex"));
  fs::copy_file(source_dir / "tests/data" / manifest, old / "manifest.json");
  CHECK(CheckpointReader(old).written_by() == written_by);
  Trainer<small_line> trainer({.seed = 1, .threads = 1});
  trainer.load(old);
  CHECK(trainer.steps() == 3);
  CHECK(trainer.settings().seed == 11);
  const std::map<std::string, Numbers> weights{{"input.weight", {-0.902683496, -0.680888116}},
                                               {"input.bias", {-0.152958184, 0.500813961}},
                                               {"output.weight", {0.409085572, 0.52794683}},
                                               {"output.bias", {-0.422788352}}};
  for (const auto& [name, want] : weights) {
    CAPTURE(name);
    const auto has = trainer.parameter(name);
    REQUIRE(has.size() == want.size());
    for (std::size_t k = 0; k < want.size(); ++k) CHECK(float(has[k]) == float(want[k]));
  }
  const auto& fields = trainer.recipe().run_state;
  const auto best = std::ranges::find_if(
      fields, [](const Option& field) { return field.dotted() == "schedule.best"; });
  REQUIRE(best != fields.end());
  CHECK(*std::get<double*>(best->value) == 0.75);
  HostBatch batch;
  batch.values = {{0, 1, 2, 3}, {1, 2, 3, 4}};
  batch.starts = {0, 1, 2, 3, 4};
  CHECK(std::holds_alternative<Applied>(trainer.step(batch)));
  CHECK(trainer.steps() == 4);

  // It is no checkpoint of a classifier, of which the first version knew nothing.
  struct Classifier : Recipe<Mlp<{.in = 1, .hidden = 2, .out = 1, .classifier = true}>,
                             AdamW<{.lr = 1e-2}>, Average<{.decay = 0.5}>, Plateau<{.patience = 3}>,
                             Batch<{.global = 4, .micro = 2}>> {};
  Trainer<Classifier> other({.seed = 1, .threads = 1});
  CHECK(contains(message_of([&] { other.load(old); }),
                 "model.classifier: " + classifier + " in the checkpoint, true in this binary"));
}
TEST_CASE("checkpoints of the first and the second version of the format resume") {
  check_resumes("checkpoint_0.1/manifest.json", "", "nothing");
  check_resumes("checkpoint_0.2/manifest.json", "0.2.0", "false");
}

}  // namespace sinter::detail::testing::versions_tests
