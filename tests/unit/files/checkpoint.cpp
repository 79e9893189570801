// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/checkpoint.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "files/chunk_hash.hpp"
#include "files/safetensors_layout.hpp"
#include "sinter/version.hpp"
#include "unit/files/support.hpp"

using namespace sinter;
using namespace sinter::detail;
using namespace sinter::detail::testing;

namespace {

void write_checkpoint(const fs::path& path, std::int64_t step, const std::string& content) {
  CheckpointWriter writer(path);
  writer.add_file("model.safetensors", content);
  writer.add_file("sampler.bin", [&](OutputFile& out) {
    out.write(content);
    out.write(content);
  });
  writer.commit(step, R"({"recipe": "r", "lr": 0.1, "z": [1, null]})");
}

}  // namespace

TEST_CASE("a checkpoint is read as it was written, also through a link") {
  TemporaryFolder folder;
  write_checkpoint(folder / "c", 40, "weights");
  CHECK(hidden_entries(folder.path()) == 0);
  fs::create_symlink("c", folder / "last");
  for (const char* name : {"c", "c/", "last"}) {
    CheckpointReader reader(folder / name);
    CHECK(reader.step() == 40);
    CHECK(reader.info() == R"({"recipe":"r","lr":0.1,"z":[1,null]})");
    CHECK(reader.folder() == fs::canonical(folder / "c"));
    CHECK(get(reader.file("model.safetensors")) == "weights");
    CHECK(get(reader.file("sampler.bin")) == "weightsweights");
    CHECK(reader.has("sampler.bin"));
    CHECK(!reader.has("manifest.json"));
    CHECK(contains(message_of([&] { reader.file("rng"); }), "holds no rng"));
  }
}

TEST_CASE("without commit nothing remains, and nothing stands under the name") {
  TemporaryFolder folder;
  {
    CheckpointWriter writer(folder / "c");
    writer.add_file("a", "1");
    CHECK(hidden_entries(folder.path()) == 1);
  }
  auto fail = [](OutputFile&) { throw std::runtime_error("stop"); };
  auto save = [&] { CheckpointWriter(folder / "c").add_file("a", fail); };
  CHECK_THROWS_WITH_AS(save(), "stop", std::runtime_error);
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a checkpoint is replaced by a later one of the same name") {
  TemporaryFolder folder;
  write_checkpoint(folder / "c", 1, "one");
  write_checkpoint(folder / "c", 2, "two");
  CHECK(CheckpointReader(folder / "c").step() == 2);
  CHECK(get(folder / "c/model.safetensors") == "two");
  CHECK(hidden_entries(folder.path()) == 0);
}

TEST_CASE("a path that is no checkpoint is never replaced") {
  TemporaryFolder folder;
  fs::create_directory(folder / "thesis");
  put(folder / "thesis/chapter", "1");
  put(folder / "file", "1");
  fs::create_directory(folder / "app");
  put(folder / "app/manifest.json", R"({"name": "a web page"})");
  fs::create_symlink("nowhere", folder / "link");
  for (const char* name : {"thesis", "file", "app", "link"}) {
    CAPTURE(name);
    auto act = [&] { CheckpointWriter writer(folder / name); };
    CHECK(contains(message_of(act), "is not overwritten"));
  }
  CHECK(get(folder / "thesis/chapter") == "1");
  fs::create_directory(folder / "empty");
  write_checkpoint(folder / "empty", 1, "one");
  CHECK_NOTHROW(CheckpointReader(folder / "empty"));
}

TEST_CASE("names and information are checked") {
  TemporaryFolder folder;
  CheckpointWriter writer(folder / "c");
  writer.add_file("a", "1");
  for (const char* name : {"", ".", "..", "a/b", "../a", "manifest.json", "a"})
    CHECK_THROWS_AS(writer.add_file(name, ""), ArgumentError);
  CHECK_THROWS_AS(writer.commit(1, "not json"), ArgumentError);
  CHECK_THROWS_AS(writer.commit(1, "{}", "no name of a run"), ArgumentError);
  CHECK_NOTHROW(writer.commit(1, "{}"));
}

TEST_CASE("tensors are hashed by chunks, whoever writes them in whatever order") {
  TemporaryFolder folder;
  std::vector<float> wide(1000);
  std::vector<std::uint8_t> codes(70);
  for (std::size_t k = 0; k < wide.size(); ++k) wide[k] = float(k) / 7;
  for (std::size_t k = 0; k < codes.size(); ++k) codes[k] = std::uint8_t(3 * k);
  const std::vector<TensorView> tensors{{"codes", Dtype::u8, {70}, codes.data(), 70},
                                        {"wide", Dtype::f32, {10, 100}, wide.data(), 4000},
                                        {"none", Dtype::f32, {0}, nullptr, 0}};
  {
    CheckpointWriter writer(folder / "c");
    writer.add_tensors("model.safetensors", tensors);
    writer.add_file("config.json", "{}");
    writer.commit(1, "{}");
  }
  CHECK_NOTHROW(CheckpointReader(folder / "c"));
  write_safetensors(folder / "plain", tensors);
  CHECK(get(folder / "c/model.safetensors") == get(folder / "plain"));
  const std::string manifest = get(folder / "c/manifest.json");
  CHECK(contains(manifest, "\"version\": 2"));

  const SafetensorsLayout layout = safetensors_layout(tensors, usual_metadata, "a file");
  CHECK(layout.bytes == get(folder / "plain").size());
  ChunkSum sum;
  const auto add = [&](int tensor, std::size_t from, std::size_t to) {
    const TensorView& view = tensors[std::size_t(tensor)];
    sum.add_elements(layout.places[std::size_t(tensor)] + from,
                     static_cast<const char*>(view.data) + from, to - from, view.dtype);
  };
  add(1, 2560, 4000);  // 40 chunks of 64 bytes
  add(0, 0, 16);
  add(1, 0, 640);
  add(0, 16, 70);
  sum.add_chunk(0, layout.head.data(), layout.head.size());
  add(1, 640, 2560);
  CHECK(contains(manifest, "\"sum_of_xxh3_128\": \"" + sum.text() + "\""));
  CHECK(sum_of_file(InputFile(folder / "plain"))->text() == sum.text());
  CHECK(!sum_of_file(InputFile(folder / "c/config.json")));

  // Chunks that change places are noticed.
  std::string swapped = get(folder / "plain");
  const std::size_t at = layout.places[1];
  for (std::size_t k = 0; k < 64; ++k) std::swap(swapped[at + k], swapped[at + 64 + k]);
  put(folder / "c/model.safetensors", swapped);
  CHECK(contains(message_of([&] { CheckpointReader reader(folder / "c"); }), "is damaged"));
}

TEST_CASE("a file that others have written is added as it is") {
  TemporaryFolder folder;
  {
    CheckpointWriter writer(folder / "c");
    put(writer.path_of("a"), "by another");
    writer.add_written("a", {10, hash_of("by another")});
    CHECK_THROWS_AS(writer.add_written("a", {0, ""}), ArgumentError);
    CHECK_THROWS_AS(writer.add_written("a/b", {0, ""}), ArgumentError);
    writer.commit(1, "{}");
  }
  CHECK(get(CheckpointReader(folder / "c").file("a")) == "by another");
  CHECK(contains(get(folder / "c/manifest.json"), "\"version\": 1"));
}

TEST_CASE("damage is found and named, with another checkpoint to use") {
  auto damaged = [](auto damage) {
    TemporaryFolder run;
    write_checkpoint(run / "step-00000020", 20, "older");
    write_checkpoint(run / "step-00000040", 40, "newer");
    damage(run / "step-00000040");
    std::string text = message_of([&] { CheckpointReader reader(run / "step-00000040"); });
    CHECK(contains(text, (run / "step-00000040").string()));
    CHECK(contains(text, "such as " + fs::canonical(run / "step-00000020").string() + "."));
    return text;
  };
  auto on = [](const char* name, auto change) {
    return [=](const fs::path& folder) {
      std::string content = get(folder / name);
      change(content);
      put(folder / name, content);
    };
  };
  auto flip = [](std::string& content) { content[content.size() / 2] ^= 1; };
  auto cut = [](std::string& content) { content.pop_back(); };
  auto empty = [](std::string& content) { content.clear(); };
  CHECK(contains(damaged(on("sampler.bin", flip)), "sampler.bin is damaged: its hash"));
  CHECK(contains(damaged(on("sampler.bin", cut)), "sampler.bin has 9 bytes, its manifest says 10"));
  CHECK(contains(damaged(on("model.safetensors", empty)), "model.safetensors has 0 bytes"));
  CHECK(contains(damaged(on("manifest.json", flip)), "manifest.json is damaged: the checksum"));
  CHECK(contains(damaged(on("manifest.json", cut)), "manifest.json is damaged: the checksum"));
  CHECK(contains(damaged(on("manifest.json", empty)), "manifest.json is damaged or not"));
  CHECK(contains(damaged([](const fs::path& c) { fs::remove(c / "sampler.bin"); }),
                 "sampler.bin is missing"));
  CHECK(contains(damaged([](const fs::path& c) { fs::remove(c / "manifest.json"); }),
                 "has no manifest.json"));
  CHECK(contains(damaged([](const fs::path& c) {
                   fs::remove(c / "sampler.bin");
                   fs::create_directory(c / "sampler.bin");
                 }),
                 "sampler.bin is a folder"));
  auto foreign = [](std::string& content) { content = R"({"name": "a web page"})"; };
  CHECK(contains(damaged(on("manifest.json", foreign)), "not one of Sinter's"));
}

TEST_CASE("a manifest with a right checksum is still checked") {
  TemporaryFolder folder;
  auto refused = [&](const std::string& body) {
    fs::create_directories(folder / "c");
    std::string rest = "\",\n" + body;
    put(folder / "c/manifest.json", "{\"checksum\":\"" + hash_of(rest) + rest);
    return message_of([&] { CheckpointReader reader(folder / "c"); });
  };
  std::string begin = R"("format":"sinter-checkpoint",)";
  CHECK(contains(refused(begin + R"("version":3,"step":1,"files":{},"info":null})"), "version 3"));
  CHECK(contains(refused(R"("format":"x","version":1})"), "format \"x\""));
  CHECK(contains(refused(begin + R"("version":1,"files":{},"info":null})"), "step"));
  CHECK(contains(refused(begin + R"("version":1,"step":1,"info":null,"files":[1]})"), "manifest"));
  CHECK(contains(refused(begin + R"("version":1,"step":1,"info":null,"files":{"../x":{}}})"),
                 "names '../x'"));
}

TEST_CASE("numbers, depth and texts of a manifest with a right checksum are checked") {
  TemporaryFolder folder;
  auto refused = [&](const std::string& step, const std::string& bytes, const std::string& info) {
    fs::create_directories(folder / "c");
    std::string rest = "\",\n\"format\":\"sinter-checkpoint\",\"version\":1,\"step\":" + step +
                       ",\"files\":{\"a\":{\"bytes\":" + bytes +
                       ",\"xxh3_128\":\"\"}},\"info\":" + info + "}";
    put(folder / "c/manifest.json", "{\"checksum\":\"" + hash_of(rest) + rest);
    std::string text = message_of([&] { CheckpointReader reader(folder / "c"); });
    CHECK(text.size() < 1000);
    return text;
  };
  put(folder / "a", "");
  for (const char* number : {"-1", "1.5", "18446744073709551616", "\"1\"", "1e30", "null"}) {
    CAPTURE(number);
    CHECK(contains(refused("1", number, "null"), "'bytes' is "));
    CHECK(contains(refused(number, "0", "null"), "'step' is "));
  }
  CHECK(contains(refused("9223372036854775808", "0", "null"), "'step' is 9223372036854775808"));
  for (std::size_t depth : {200u, 200'000u}) {
    std::string lists = std::string(depth, '[') + std::string(depth, ']');
    CHECK(contains(refused("1", "0", lists), "nested deeper than 101"));
    std::string objects;
    for (std::size_t k = 0; k < depth; ++k) objects += "{\"[\":";
    CHECK(contains(refused("1", "0", objects + "1" + std::string(depth, '}')), "nested deeper"));
    CheckpointWriter writer(folder / "w");
    CHECK(contains(message_of<ArgumentError>([&] { writer.commit(1, lists); }), "nested deeper"));
  }
  // Brackets in texts are no depth.
  CHECK(contains(refused("1", "0", "\"\\\"" + std::string(300, '[') + "\""), "a is missing"));
  const std::string steering = "\x1b[2J" + std::string(9'000'000, 'x');
  CHECK(contains(refused("1", "0", "\"" + steering), "is not one of Sinter's"));
  const std::string escaped = "\\u001b[2J" + std::string(9'000'000, 'x');
  std::string rest =
      "\",\"format\":\"" + escaped + "\",\"version\":1,\"sinter\":\"" + escaped + "\"}";
  put(folder / "c/manifest.json", "{\"checksum\":\"" + hash_of(rest) + rest);
  const std::string text = message_of([&] { CheckpointReader reader(folder / "c"); });
  CHECK(contains(text, "written by Sinter \\x1b[2Jxxx"));
  CHECK(text.size() < 1000);
}

TEST_CASE("where no checkpoint is good, none is named to be used") {
  TemporaryFolder run;
  for (int step : {10, 20, 30}) write_checkpoint(run / step_folder_name(step), step, "weights");
  auto hint = [&] {
    std::string text = message_of([&] { CheckpointReader reader(run / "step-00000020"); });
    return text.substr(text.find("Use "));
  };
  fs::remove(run / "step-00000020/sampler.bin");
  const std::string folder = fs::canonical(run.path()).string();
  CHECK(hint() == "Use another one, such as " + folder + "/step-00000010.");
  fs::resize_file(run / "step-00000010/model.safetensors", 1);
  CHECK(hint() == "Use another one, such as " + folder + "/step-00000030.");
  put(run / "step-00000030/manifest.json", "");
  CHECK(hint() == "Use another checkpoint.");
}

TEST_CASE("a checkpoint says which version of Sinter wrote it, and is read where it does not") {
  TemporaryFolder folder;
  write_checkpoint(folder / "new", 1, "one");
  CHECK(CheckpointReader(folder / "new").written_by() == version());
  auto manifest = [&](const std::string& more) {
    fs::create_directories(folder / "c");
    const std::string rest = "\",\n\"format\":\"sinter-checkpoint\"," + more + "}";
    put(folder / "c/manifest.json", "{\"checksum\":\"" + hash_of(rest) + rest);
  };
  const std::string content = R"("step":7,"files":{},"info":null)";
  manifest(R"("version":1,)" + content);
  CHECK(CheckpointReader(folder / "c").written_by().empty());
  CHECK(CheckpointReader(folder / "c").step() == 7);
  manifest(R"("version":1,"sinter":"9.8.7","of_tomorrow":[1],)" + content);
  CHECK(CheckpointReader(folder / "c").written_by() == "9.8.7");
  manifest(R"("version":3,"sinter":"9.8.7",)" + content);
  const std::string text = message_of([&] { CheckpointReader reader(folder / "c"); });
  CHECK(contains(text, "version 3 (written by Sinter 9.8.7)"));
  CHECK(contains(text, "version 2 (Sinter " + std::string(version()) + ")"));
}

TEST_CASE("files that the manifest does not list do no harm") {
  TemporaryFolder folder;
  write_checkpoint(folder / "c", 1, "one");
  put(folder / "c/notes.txt", "mine");
  CheckpointReader reader(folder / "c");
  CHECK(!reader.has("notes.txt"));
}

TEST_CASE("folders of steps are listed by number, the newest first") {
  TemporaryFolder run;
  for (const char* name :
       {"step-00000002", "step-00000010", "step-123456789", "step-3", "step-", "step-0000001x",
        ".step-00000004.tmp-1", "step-00000005.damaged", "step-999999999999999999999999"})
    fs::create_directory(run / name);
  put(run / "step-00000006", "a file");
  std::vector<StepFolder> steps = step_folders(run.path());
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].step == 123456789);
  CHECK(steps[1].step == 10);
  CHECK(steps[2].folder == run / "step-00000002");
  CHECK_THROWS_AS(step_folders(run / "nothing"), FileError);
}
