// SPDX-License-Identifier: Apache-2.0
// What train and eval read below --data, what they remember of it and say about it.
#include "binary/support.hpp"

namespace sinter::detail::testing::data_paths_tests {

TEST_CASE("a second run does not learn the first one's checkpoint") {
  Scratch scratch;
  write(scratch / "text", some_text(3000));
  const Words train{"train", "--data", ".", "--steps", "2"};
  Ended first = run(train, SINTER_SMALL, scratch.path());
  REQUIRE_MESSAGE(first.code == 0, first.err);
  Ended second = run(train, SINTER_SMALL, scratch.path());
  REQUIRE_MESSAGE(second.code == 0, second.err);
  for (const Ended& ended : {first, second})
    CHECK(ended.out.find("data    3,000 bytes in 1 file, ") != ended.out.npos);
  CHECK(second.says("note: left out of the data: ./runs/small-1 (the folder of a run)"));
  CHECK(lasting(scratch / "runs/small-1") == lasting(scratch / "runs/small-2"));
  Ended resumed = fine({"train", "--resume", "--out", scratch / "runs/small-1", "--steps", "3"});
  CHECK(resumed.says("note: the data are " + scratch.path() + ", as before."));
}

TEST_CASE("a run whose folder lies below its data is resumed") {
  Scratch scratch;
  fs::create_directory(scratch / "data");
  write(scratch / "data/text", some_text(3000));
  const Words data{"train", "--data", scratch / "data", "--eval-every", "100000"};
  fine(data + Words{"--out", scratch / "data/run", "--steps", "4"});
  fine(data + Words{"--out", scratch / "data/run", "--steps", "8", "--resume"});
  fine(data + Words{"--out", scratch / "whole", "--steps", "8", "--save-every", "4"});
  CHECK(content(scratch / "data/run/last/model.safetensors") ==
        content(scratch / "whole/last/model.safetensors"));
}

TEST_CASE("a data path is no place for a run") {
  Scratch scratch;
  write(scratch / "text", some_text(3000));
  Ended same = run({"train", "--data", ".", "--out", scratch.path()}, SINTER_SMALL, scratch.path());
  CHECK(same.code == 2);
  CHECK(same.says("is a data path, too"));
  CHECK(!fs::exists(scratch / "lock"));
  fine({"train", "--data", scratch / "text", "--out", scratch / "run", "--steps", "1"});
  Ended read = run({"train", "--data", scratch / "run", "--out", scratch / "other"});
  CHECK(read.code == 1);
  CHECK(read.says("it is the folder of a run"));
}

TEST_CASE("links that lead nowhere are an error, or left out with --skip-unreadable") {
  Scratch scratch;
  fs::create_directory(scratch / "data");
  write(scratch / "data/text", some_text(3000));
  for (const char* name : {"/a", "/b"}) fs::create_symlink("nowhere", scratch / "data" + name);
  const Words train{"train", "--data", scratch / "data", "--out", scratch / "run", "--steps", "2"};
  Ended refused = run(train);
  CHECK(refused.code == 1);
  CHECK(refused.says("data/a' as data: No such file or directory"));
  Ended skipped = fine(train + Words{"--skip-unreadable"});
  CHECK(skipped.says("data/a and 1 more (cannot be read: No such file or directory)"));
  CHECK(skipped.out.find("3,000 bytes in 1 file") != skipped.out.npos);
  const Words eval{"eval", "--data", scratch / "data", "--weights", scratch / "run"};
  CHECK(run(eval).code == 1);
  CHECK(fine(eval + Words{"--skip-unreadable"}).says("data/a and 1 more"));
  // What was left out stays so when the run goes on.
  fine({"train", "--out", scratch / "run", "--steps", "3", "--resume"});
}

TEST_CASE("what is no text is refused; --as-text reads it, also when the run goes on") {
  Scratch scratch;
  std::string lines;
  for (int k = 0; k < 200; ++k) lines += "{\"text\": \"line " + std::to_string(k) + "\"}\n";
  const std::string text = write(scratch / "text.jsonl", lines), out = scratch / "run";
  const Words train{"train", "--data", text, "--out", out, "--steps", "2"};
  check_refused(run(train), 1, "text.jsonl' as data: it is JSON lines, and no text");
  CHECK(!fs::exists(out));
  fine(train + Words{"--as-text"});
  fine({"train", "--out", out, "--steps", "3", "--resume"});
  fine({"train", "--data", text, "--out", out, "--steps", "4", "--resume"});
  check_refused(run({"eval", "--weights", out, "--data", text}), 1, "--as-text reads it as text");
  fine({"eval", "--weights", out, "--data", text, "--as-text"});
  fine({"eval", "--weights", out, "--held-out"});
  // A run whose record does not say began before texts were checked.
  Json record = Json::parse(content(out + "/run.json"));
  for (Json& start : record) start.erase("as_text");
  write(out + "/run.json", record.dump());
  fine({"train", "--out", out, "--steps", "5", "--resume"});

  const std::string zip = write(scratch / "text.zip", "PK\x03\x04" + some_text(3000));
  check_refused(run({"train", "--data", zip, "--out", scratch / "zip"}), 1, "it is a zip archive");
  const std::string binary = write(scratch / "binary", some_text(3000) + std::string(9, '\0'));
  CHECK(fine({"train", "--data", binary, "--out", scratch / "binary-run", "--steps", "1"})
            .says("binary may be no text: it has NUL bytes, the first at byte 3000"));
  check_refused(run({"train", "--data", text, "--as-text"}, SINTER_REPLIES), 2,
                "--as-text is nothing to train");
}

TEST_CASE("--resume remembers --data, from wherever it is called") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  Ended first = run({"train", "--data", "text", "--out", "run", "--steps", "4"}, SINTER_SMALL,
                    scratch.path());
  REQUIRE_MESSAGE(first.code == 0, first.err);
  Ended resumed = fine({"train", "--out", out, "--steps", "6", "--resume"});
  CHECK(resumed.says("note: the data are " + text + ", as before."));
  CHECK(metrics(out).size() == 6);
  std::string copy = write(scratch / "copy", some_text(3000));
  Ended given = fine({"train", "--data", copy, "--out", out, "--steps", "7", "--resume"});
  CHECK(given.says("note: the data are " + copy + ", as given; they were " + text + "."));
  fs::remove(text);
  fine({"train", "--out", out, "--steps", "8", "--resume"});  // the copy, as it was given last
  // Without a record there is nothing to remember.
  fs::remove(out + "/run.json");
  Ended none = run({"train", "--out", out, "--steps", "9", "--resume"});
  CHECK(none.code == 2);
  CHECK(none.says("train --resume needs --data PATH..."));
  CHECK(run({"train", "--out", out}).says("train needs --data PATH..."));
}

TEST_CASE("text that changes while it is trained on is a warning") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  Process process(SINTER_SMALL,
                  {"train", "--data", text, "--out", out, "--schedule.steps", "99999"});
  REQUIRE(wait_for([&] { return fs::exists(out + "/metrics.jsonl") && metrics(out).size() > 2; }));
  std::ofstream(text, std::ios::app) << "more";
  process.signal(SIGTERM);
  Ended ended = process.wait();
  CHECK(ended.code == 75);
  CHECK(ended.out.find("warning: the data have changed since they were read: " + text +
                       " has 3004 bytes now; it had 3000.") != ended.out.npos);
}

TEST_CASE("a run's folder has a record of its starts") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  fine({"train", "--data", text, "--out", out, "--steps", "2", "--seed", "7"});
  fine({"train", "--out", out, "--steps", "4", "--resume"});
  Json starts = Json::parse(content(out + "/run.json"));
  REQUIRE(starts.size() == 2);
  CHECK(starts[0]["command"] ==
        Json{SINTER_SMALL, "train", "--data", text, "--out", out, "--steps", "2", "--seed", "7"});
  CHECK(starts[0]["date"].get<std::string>().size() == std::string("2026-01-31T00:00:00Z").size());
  CHECK(starts[0]["version"].is_string());
  CHECK(starts[0]["recipe"] == "small");
  CHECK(starts[0]["data"] == Json{text});
  for (int k : {0, 1}) {
    CHECK(starts[k]["step"] == 2 * k);
    CHECK(starts[k]["seed"] == "7");
  }
  // A damaged record is set aside, and a link is never followed.
  write(out + "/run.json", "[{");
  Ended damaged = fine({"train", "--data", text, "--out", out, "--steps", "5", "--resume"});
  CHECK(damaged.says("run.json is damaged"));
  CHECK(content(out + "/run.json.damaged") == "[{");
  CHECK(Json::parse(content(out + "/run.json")).size() == 1);
  fs::remove(out + "/run.json");
  fs::create_symlink(write(scratch / "mine", "mine"), out + "/run.json");
  Ended linked = run({"train", "--data", text, "--out", out, "--steps", "6", "--resume"});
  CHECK(linked.code == 1);
  CHECK(linked.says("run.json is no regular file"));
  CHECK(content(scratch / "mine") == "mine");
  // In a folder that is used for other things it may be somebody else's.
  fs::create_directory(scratch / "used");
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  for (const std::string& foreign : {std::string("[{\"mine\": 1}]"), deep}) {
    write(scratch / "used/run.json", foreign);
    Ended used = run({"train", "--data", text, "--out", scratch / "used", "--steps", "1"});
    CHECK(used.code == 1);
    CHECK(used.says("it is no list of a run's starts. Move it away"));
    CHECK(content(scratch / "used/run.json") == foreign);
  }
}

TEST_CASE("the header says the seed and what differs from the recipe") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  Ended changed = fine({"train", "--data", text, "--out", out, "--steps", "2", "--seed", "7",
                        "--optimizer.lr", "0.004", "--order", "sequential"});
  const std::string line =
      "options seed 7, order sequential (default shuffled), optimizer.lr 0.004 (default 0.01)\n";
  CHECK(changed.out.find(line) != changed.out.npos);
  Ended resumed = fine({"train", "--out", out, "--steps", "3", "--resume"});
  CHECK(resumed.out.find(line) != resumed.out.npos);
}

TEST_CASE("eval --held-out is the validation loss of training, to the bit") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(9001));
  for (const char* ranks : {"1", "2"}) {
    CAPTURE(ranks);
    std::string out = scratch / ranks;
    fine({"train", "--data", text, "--out", out, "--steps", "6", "--eval-every", "3", "--seed", "5",
          "--parallel.ranks", ranks});
    Json all = run({"eval", "--json", "--weights", out, "--data", text}).json();
    Json held = run({"eval", "--json", "--weights", out, "--data", text, "--held-out"}).json();
    CHECK(held["tokens"] == 900 - 1);
    CHECK(held["loss"].get<double>() == metrics(out).back()["val_loss"].get<double>());
    CHECK(held["loss"] != all["loss"]);
    const Ended own = run({"eval", "--json", "--weights", out + "/last", "--held-out"});
    CHECK(own.json() == held);
    CHECK(own.says("the data are " + text + ", as before."));
  }
  std::string weights = scratch / "1/last/model.safetensors";
  Json bare = run({"eval", "--json", "--weights", weights, "--data", text, "--held-out"}).json();
  CHECK(bare["loss"] == metrics(scratch / "1").back()["val_loss"]);
  const Ended unknown = run({"eval", "--weights", weights, "--held-out"});
  CHECK(unknown.code == 2);
  CHECK(unknown.says("eval --held-out needs --data PATH...: " + weights + " is no checkpoint"));
  fs::copy(scratch / "1/last/", scratch / "alone", fs::copy_options::recursive);
  const Ended alone = run({"eval", "--weights", scratch / "alone", "--held-out"});
  CHECK(alone.code == 2);
  CHECK(alone.says("run.json does not say what the run has read."));
  Ended other = run({"eval", "--weights", scratch / "1", "--held-out", "--data",
                     write(scratch / "other", some_text(9000))});
  CHECK(other.code == 1);
  CHECK(other.says("--held-out is of the data that the run trained on, and these are others"));
  CHECK(other.says("would train on 8,100 of them, and it has trained on 8,101."));
  fine(
      {"train", "--data", text, "--out", scratch / "all", "--steps", "1", "--order", "sequential"});
  Ended none = run({"eval", "--weights", scratch / "all", "--data", text, "--held-out"});
  CHECK(none.code == 1);
  CHECK(none.says("which holds nothing out"));
}

}  // namespace sinter::detail::testing::data_paths_tests
