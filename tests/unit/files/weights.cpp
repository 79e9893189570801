// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/weights.hpp"

#include <doctest/doctest.h>

#include "sinter/files/run_folder.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing::weights_tests {

using Kind = WeightsSource::Kind;

std::string refusal(const fs::path& path) {
  return message_of([&] { resolve_weights(path); });
}

void save(RunFolder& run, std::int64_t step) {
  run.save(step, "{}", [](CheckpointWriter& writer) {
    writer.add_file("model.safetensors", "weights");
    writer.add_file("config.json", "{}");
  });
}

TEST_CASE("a run folder leads to its last checkpoint, a checkpoint to itself") {
  TemporaryFolder folder;
  RunFolder run(folder / "run", RunFolder::Mode::fresh);
  CHECK(contains(refusal(run.path()), "holds no checkpoint"));
  save(run, 1);
  save(run, 2);
  fs::path second = fs::canonical(run.path() / "step-00000002");
  for (const char* name : {"run", "run/last", "run/step-00000002"}) {
    WeightsSource source = resolve_weights(folder / name);
    CHECK(source.kind == Kind::checkpoint);
    CHECK(source.path == second);
    CHECK(source.files == std::vector<fs::path>{second / "model.safetensors"});
    CHECK(source.config == second / "config.json");
    CHECK(source.warning == "");
  }
  fs::remove(run.path() / "last");
  CHECK(resolve_weights(run.path()).path == second);
  CHECK(contains(resolve_weights(run.path()).warning, "step-00000002 is the newest checkpoint"));
  fs::create_symlink("step-00000077", run.path() / "last");
  CHECK(resolve_weights(run.path()).path == second);
  CHECK(contains(refusal(run.path() / "last"), "is a link that leads nowhere"));
  fs::remove_all(run.path() / "step-00000001");
  fs::remove_all(run.path() / "step-00000002");
  CHECK(contains(refusal(run.path()), "nothing to resume"));
}

TEST_CASE("a run folder gives its best checkpoint, or the one that is named, and says which") {
  TemporaryFolder folder;
  RunFolder run(folder / "run", RunFolder::Mode::fresh, 5);
  const auto add = [&](std::int64_t step, bool best) {
    run.save(
        step, "{}", [](CheckpointWriter& w) { w.add_file("model.safetensors", "weights"); }, best);
  };
  const auto step = [&](int number) {
    return fs::canonical(run.path() / step_folder_name(number));
  };
  add(10, false);
  CHECK(resolve_weights(run.path()).path == step(10));
  CHECK(resolve_weights(run.path()).taken == "the weights are those of step 10, the run's last");
  CHECK(contains(refusal(folder / "run@best"), "no checkpoint 'best': nothing was evaluated"));
  add(20, true);
  CHECK(resolve_weights(run.path()).taken ==
        "the weights are those of step 20, the run's best and its last");
  add(30, false);
  CHECK(resolve_weights(run.path()).path == step(20));
  CHECK(resolve_weights(run.path()).taken == "the weights are those of step 20, the run's best; " +
                                                 run.path().string() + "@last takes its last");
  CHECK(resolve_weights(folder / "run@best").path == step(20));
  CHECK(resolve_weights(folder / "run@last").path == step(30));
  CHECK(resolve_weights(folder / "run@10").path == step(10));
  CHECK(resolve_weights(folder / "run@10").taken == "the weights are those of step 10, as named");
  CHECK(contains(refusal(folder / "run@11"), "It has those of the steps 30, 20, 10."));
  CHECK(contains(message_of<ArgumentError>([&] { resolve_weights(folder / "run@first"); }),
                 "names no checkpoint"));
  CHECK(contains(refusal(folder / "none@best"), "does not exist"));
  fs::create_directory(folder / "other");
  CHECK(contains(refusal(folder / "other@last"), "is no run's folder"));
  fs::create_directory_symlink(run.path(), folder / "me@last");  // a name that is there goes first
  CHECK(resolve_weights(folder / "me@last").path == step(20));
  CHECK(RunFolder::checkpoint(run.path(), "best") == step(20));
  CHECK(RunFolder::checkpoint(run.path(), "30") == step(30));
}

TEST_CASE("files and Hugging Face folders are found as weights") {
  TemporaryFolder folder;
  put(folder / "m.safetensors", "x");
  WeightsSource file = resolve_weights(folder / "m.safetensors");
  CHECK(file.kind == Kind::safetensors);
  CHECK(file.files == std::vector<fs::path>{folder / "m.safetensors"});
  CHECK(file.config.empty());

  fs::create_directory(folder / "hf");
  put(folder / "hf/model.safetensors", "x");
  put(folder / "hf/config.json", "{}");
  WeightsSource whole = resolve_weights(folder / "hf");
  CHECK(whole.kind == Kind::hugging_face);
  CHECK(whole.files == std::vector<fs::path>{folder / "hf/model.safetensors"});
  CHECK(whole.config == folder / "hf/config.json");
}

TEST_CASE("shards lie beside their index and nowhere else") {
  TemporaryFolder folder;
  put(folder / "2.safetensors", "x");
  put(folder / "1.safetensors", "x");
  fs::path index = folder / "model.safetensors.index.json";
  put(index, R"({"metadata":{},"weight_map":{"a":"2.safetensors","b":"1.safetensors",)"
             R"("c":"2.safetensors"}})");
  CHECK(resolve_weights(folder.path()).files ==
        std::vector<fs::path>{folder / "1.safetensors", folder / "2.safetensors"});
  for (const char* name : {"../1.safetensors", "/etc/1.safetensors", "a/1.safetensors",
                           "..\\\\1.safetensors", "1.bin", "1.safetensors\\u0000"}) {
    put(index, std::string(R"({"weight_map":{"a":")") + name + "\"}}");
    std::string text = refusal(folder.path());
    CAPTURE(text);
    CHECK(contains(text, "not a safetensors file beside it"));
  }
  put(index, R"({"weight_map":{"a":"3.safetensors"}})");
  CHECK(contains(refusal(folder.path()), "3.safetensors, which is missing"));
  for (const char* other : {"", "[]", "{}", R"({"weight_map":[1]})", R"({"weight_map":{"a":1}})"}) {
    put(index, other);
    CHECK(contains(refusal(folder.path()), "is not an index"));
  }
  put(index, R"({"weight_map":{}})");
  CHECK(contains(refusal(folder.path()), "names no file"));
}

TEST_CASE("an index that is nested deeper than anybody needs, or names nonsense, is refused") {
  TemporaryFolder folder;
  auto refused = [&](const std::string& index) {
    put(folder / "model.safetensors.index.json", index);
    std::string text = message_of([&] { resolve_weights(folder.path()); });
    CHECK(text.size() < 1000);
    return text;
  };
  CHECK(contains(refused("{\"a\":" + std::string(200'000, '[') + std::string(200'000, ']') + "}"),
                 "is not an index of safetensors files (it is nested deeper than 100"));
  CHECK(contains(refused("{\"weight_map\":{\"a\":\"\\u001b[2J" + std::string(1'000'000, 'x') +
                         ".safetensors\"}}"),
                 "names \\x1b[2Jxxx"));
}

TEST_CASE("a path that holds no weights is an error that says what is accepted") {
  TemporaryFolder folder;
  CHECK(contains(refusal(folder / "none"), "does not exist. Give a .safetensors file"));
  put(folder / "m.bin", "x");
  CHECK(contains(refusal(folder / "m.bin"), "not a safetensors file by its name"));
  CHECK(contains(refusal(folder / "m.bin/x"), "does not exist"));
  CHECK(contains(refusal(folder.path()), "holds no weights that can be read."));
  put(folder / "pytorch_model.bin", "x");
  CHECK(contains(refusal(folder.path()), "unpickling runs code. Convert it where torch"));
  CHECK(contains(refusal(folder.path()), "python3 - '" + folder.path().string() + "' <<'END'\n"));
}

}  // namespace sinter::detail::testing::weights_tests
