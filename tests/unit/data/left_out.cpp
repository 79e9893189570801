// SPDX-License-Identifier: Apache-2.0
// What a corpus leaves out below a folder, and what it says of it.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "sinter/data/byte_corpus.hpp"
#include "sinter/data/bytes.hpp"
#include "sinter/data/data_view.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/files/run_mark.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::left_out_tests {
using Unreadable = ByteCorpus::Unreadable;

std::string text_of(const ByteCorpus& corpus) {
  return {corpus.bytes().begin(), corpus.bytes().end()};
}

std::string refusal(const std::string& path) {
  return message_of([&] { ByteCorpus corpus({path}); });
}

/// A run's folder with a checkpoint, as the loop leaves it.
void train_in(const fs::path& path) {
  RunFolder run(path, RunFolder::Mode::fresh);
  (void)run.save(3, "{}", [](CheckpointWriter& writer) { writer.add_file("weights", "www"); });
}

TEST_CASE("the folders of runs and checkpoints are left out below a data path") {
  DataFolder folder;
  folder.write("t/a", "a");
  folder.write("t/z", "z");
  train_in(folder / "t/runs/1");
  train_in(folder / "t/runs/2");
  fs::create_directories(folder / "t/kept");
  fs::copy(folder / "t/runs/1/step-00000003", folder / "t/kept/best", fs::copy_options::recursive);
  ByteCorpus corpus({folder / "t"});
  CHECK(text_of(corpus) == "az");
  CHECK(corpus.left_out_text() ==
        "left out of the data: " + (folder / "t/kept/best") +
            " (a checkpoint)\nleft out of the data: " + (folder / "t/runs/1") +
            " and 1 more (the folder of a run)\n");
  CHECK(contains(refusal(folder / "t/runs/1"), "it is the folder of a run"));
  CHECK(contains(refusal(folder / "t/runs/2/last"), "it is a checkpoint"));
  CHECK(text_of(ByteCorpus({folder / "t/runs/2/last/weights"})) == "www");
}

TEST_CASE("a folder that only resembles a run is text") {
  DataFolder folder;
  folder.write("t/locked/lock", "pid 7 on here\n");  // no log, no checkpoint
  folder.write("t/metrics/metrics.jsonl", "{}\n");
  folder.write("t/other/lock", "exclusive\n");
  folder.write("t/other/metrics.jsonl", "{}\n");
  folder.write("t/step-00000001/manifest.json", "{\"name\": \"an extension\"}");
  ByteCorpus corpus({folder / "t"});
  CHECK(corpus.files().size() == 5);
  CHECK(corpus.left_out_text().empty());
  folder.write("t/locked/run.json", "[]");
  CHECK(looks_like_run(folder / "t/locked"));
  fs::remove(folder / "t/locked/lock");
  folder.write("lock", "pid 7 on here\n");
  fs::create_symlink("../../lock", folder / "t/locked/lock");
  CHECK(!looks_like_run(folder / "t/locked"));
  CHECK(!looks_like_run(folder / "missing"));
}

TEST_CASE("a file that cannot be read is an error that names it, or is left out and counted") {
  DataFolder folder;
  folder.write("t/a", "a");
  folder.write("t/m/z", "z");
  fs::create_symlink("nowhere", folder / "t/dangling");
  fs::create_symlink("nowhere", folder / "t/m/dangling");
  CHECK(contains(refusal(folder / "t"), folder / "t/dangling"));
  CHECK(contains(refusal(folder / "t"), "a link must lead to a file"));
  REQUIRE(mkfifo((folder / "t/pipe").c_str(), 0600) == 0);
  ByteCorpus corpus({folder / "t"}, Unreadable::left_out);
  CHECK(text_of(corpus) == "az");
  CHECK(corpus.left_out_text() ==
        "left out of the data: " + (folder / "t/dangling") +
            " and 1 more (cannot be read: No such file or directory)\nleft out of the data: " +
            (folder / "t/pipe") + " (neither a file nor a folder)\n");
  // A path that is given is wanted.
  CHECK_THROWS_AS(ByteCorpus({folder / "t/dangling"}, Unreadable::left_out), FileError);
  CHECK_THROWS_AS(ByteCorpus({folder / "t/pipe"}, Unreadable::left_out), FileError);
  // Names from the file system cannot steer a terminal.
  folder.write("t/\033[2J/.x", "");
  CHECK(contains(ByteCorpus({folder / "t"}, Unreadable::left_out).left_out_text(), "\\x1b[2J/.x"));
}

TEST_CASE("a request may ask to skip what cannot be read, and is told what was left out") {
  DataFolder folder;
  folder.write("t/a", std::string(500, 'a'));
  folder.write("t/.hidden", "h");
  fs::create_symlink("nowhere", folder / "t/dangling");
  DataRequest request{.paths = {folder / "t"}};
  CHECK_THROWS_AS((void)open_bytes(request, 16), FileError);
  request.skip_unreadable = true;
  const OpenedData opened = open_bytes(request, 16);
  CHECK(opened.text == "500 bytes in 1 file");
  CHECK(contains(opened.notes, "t/.hidden (hidden)\n"));
  CHECK(contains(opened.notes, "t/dangling (cannot be read"));
}

TEST_CASE("text that changes after it was read is noticed") {
  DataFolder folder;
  folder.write("t/a", "aa");
  folder.write("t/b", std::string(100, 'b'));
  const OpenedData opened = open_bytes({.paths = {folder / "t"}}, 16);
  REQUIRE(opened.changed);
  CHECK(opened.changed().empty());
  std::ofstream(folder / "t/b", std::ios::app) << "more";
  CHECK(opened.changed() == (folder / "t/b") + " has 104 bytes now; it had 100.");
  fs::resize_file(folder / "t/b", 100);
  fs::last_write_time(folder / "t/b", fs::file_time_type::clock::now() + std::chrono::hours(1));
  CHECK(contains(opened.changed(), "t/b was written to"));
  fs::remove(folder / "t/a");
  CHECK(contains(opened.changed(), "t/a is no longer there"));
}

}  // namespace sinter::detail::testing::left_out_tests
