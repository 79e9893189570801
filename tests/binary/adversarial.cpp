// SPDX-License-Identifier: Apache-2.0
// Bad input: a clear error on standard error, a code that is not zero, nothing lost, nothing left.
#include <sys/stat.h>

#include "binary/support.hpp"

namespace sinter::detail::testing::adversarial_tests {

void fails(const Words& words, const std::string& message, int code = 1) {
  CAPTURE(words);
  Ended ended = run(words);
  CAPTURE(ended.err);
  CHECK(ended.code == code);
  CHECK(ended.out.empty());
  CHECK(("\n" + ended.err).find("\nerror: ") != std::string::npos);  // maybe behind notes
  CHECK(ended.says(message));
}

/// train, eval refuse the data, and train leaves no folder behind.
void refuses_data(Scratch& scratch, const std::string& path, const std::string& message,
                  bool eval_too = true) {
  fails({"train", "--data", path, "--out", scratch / "out", "--steps", "2"}, message);
  CHECK(!fs::exists(scratch / "out"));
  if (eval_too) fails({"eval", "--data", path, "--weights", scratch / "weights"}, message);
}

std::string trained(Scratch& scratch, const std::string& name, const std::string& steps) {
  std::string text = write(scratch / "text", some_text(3000));
  Ended ended = run({"train", "--data", text, "--out", scratch / name, "--steps", steps});
  REQUIRE_MESSAGE(ended.code == 0, ended.err);
  return scratch / name;
}

TEST_CASE("data that are missing, empty, too short or no files are refused") {
  Scratch scratch;
  REQUIRE(run({"export", "--out", scratch / "weights"}).code == 0);
  refuses_data(scratch, scratch / "missing", "missing");
  refuses_data(scratch, write(scratch / "empty", ""), "empty");
  refuses_data(scratch, "", "A data path is empty");
  refuses_data(scratch, write(scratch / "one", "a"), "1 bytes");
  refuses_data(scratch, write(scratch / "two", "ab"), "2 bytes", false);
  refuses_data(scratch, "/dev/null", "neither a file nor a folder");
  fs::create_directory(scratch / "folder");
  refuses_data(scratch, scratch / "folder", "holds no files");
  fs::create_symlink(scratch / "nowhere", scratch / "link");
  refuses_data(scratch, scratch / "link", "link");
  CHECK(run({"eval", "--json", "--data", scratch / "two", "--weights", scratch / "weights"})
            .json()["tokens"] == 1);
}

TEST_CASE("data that may not be read and a folder that may not be written are refused") {
  Scratch scratch;
  std::string secret = write(scratch / "secret", some_text(3000));
  std::string text = write(scratch / "text", some_text(3000));
  auto plainly = [](const Words& words) {
    return Process(SINTER_SMALL, words, "", "", {.rights = false}).wait();
  };
  REQUIRE(plainly({"train", "--data", text, "--out", scratch / "run", "--steps", "1"}).code == 0);
  fs::permissions(secret, fs::perms::none);
  fs::create_directory(scratch / "closed");
  fs::permissions(scratch / "closed", fs::perms::owner_read | fs::perms::owner_exec);
  for (const Words& words : {Words{"train", "--data", secret, "--out", scratch / "new"},
                             Words{"eval", "--data", secret, "--weights", scratch / "run"},
                             Words{"train", "--data", text, "--out", scratch / "closed/run"},
                             Words{"train", "--data", text, "--out", scratch / "closed"},
                             Words{"export", "--out", scratch / "closed/export"}}) {
    CAPTURE(words);
    Ended ended = plainly(words);
    CHECK(ended.code == 1);
    CHECK(ended.out.empty());
    CHECK(ended.says("Permission denied"));
  }
  CHECK(!fs::exists(scratch / "new"));
  CHECK(fs::is_empty(scratch / "closed"));
}

TEST_CASE("binary data are data") {
  Scratch scratch;
  std::string bytes(3000, '\0');
  for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = char(k * k >> 3);
  std::string data = write(scratch / "binary", bytes);
  CHECK(run({"train", "--data", data, "--out", scratch / "run", "--steps", "2"}).code == 0);
  CHECK(run({"eval", "--json", "--data", data, "--weights", scratch / "run"}).json()["tokens"] ==
        2999);
  CHECK(run({"train", "--data", SINTER_SMALL, "--out", scratch / "other", "--steps", "1", "--order",
             "sequential"})
            .code == 0);
}

TEST_CASE("an output folder that cannot be made is refused") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000));
  Words train{"train", "--data", text, "--steps", "2", "--out"};
  auto with = [](Words words, const std::string& last) {
    words.push_back(last);
    return words;
  };
  fails(with(train, text), "text");
  fails(with(train, text + "/below"), "text");
  fails(with(train, "/proc/sinter"), "/proc/sinter");
  fails({"export", "--out", text}, "text");
  fails({"export", "--out", "/proc/sinter"}, "/proc/sinter");
  fs::create_directory(scratch / "used");
  write(scratch / "used/mine", "mine");
  fails({"export", "--out", scratch / "used"}, "not an empty folder");
  CHECK(content(scratch / "used/mine") == "mine");
  CHECK(content(text) == some_text(3000));
}

TEST_CASE("a disk that is full stops the run and takes no checkpoint with it") {
  Scratch scratch;
  std::string run_folder = trained(scratch, "run", "4"), text = scratch / "text";
  std::string before = content(run_folder + "/last/model.safetensors");
  Words resume{"train", "--data", text, "--out", run_folder, "--steps", "8", "--resume"};
  Ended full = Process(SINTER_SMALL, resume, "", "", {.max_bytes = 20000}).wait();
  CHECK(full.code == 1);
  CHECK(full.says("error: Cannot write"));
  CHECK(content(run_folder + "/last/model.safetensors") == before);
  for (const auto& entry : fs::directory_iterator(run_folder))
    CHECK(!entry.path().filename().string().starts_with('.'));
  REQUIRE(run(resume).code == 0);
  trained(scratch, "whole", "8");
  CHECK(content(run_folder + "/last/model.safetensors") ==
        content(scratch / "whole/last/model.safetensors"));

  fs::create_directory(scratch / "empty");
  for (const char* folder : {"e", "new/e", "empty"}) {
    Ended fresh =
        Process(SINTER_SMALL, {"export", "--out", scratch / folder}, "", "", {.max_bytes = 20000})
            .wait();
    CHECK(fresh.code == 1);
    CHECK(fresh.says("error: Cannot write"));
  }
  CHECK(!fs::exists(scratch / "e"));
  CHECK(!fs::exists(scratch / "new"));
  CHECK(fs::is_empty(scratch / "empty"));
}

TEST_CASE("weights that are damaged, foreign or missing are refused") {
  Scratch scratch;
  std::string good = trained(scratch, "run", "2");
  std::string checkpoint = fs::canonical(good + "/last").string();
  std::string bytes = content(checkpoint + "/model.safetensors");
  auto refuses = [&](const std::string& path, const std::string& message) {
    fails({"eval", "--data", scratch / "text", "--weights", path}, message);
    fails({"generate", "--prompt", "a", "--weights", path}, message);
    fails({"export", "--out", scratch / "e", "--weights", path}, message);
    fails({"train", "--data", scratch / "text", "--out", scratch / "t", "--weights", path},
          message);
    CHECK(!fs::exists(scratch / "e"));
    CHECK(!fs::exists(scratch / "t"));
  };
  refuses(scratch / "nothing", "does not exist");
  refuses(scratch / "text", "text");
  refuses(write(scratch / "noise.safetensors", some_text(500)), "noise.safetensors");
  refuses(write(scratch / "cut.safetensors", bytes.substr(0, bytes.size() / 2)), "cut.safetensors");
  REQUIRE(run({"export", "--out", scratch / "rows"}, SINTER_ROWS).code == 0);
  refuses(scratch / "rows/model.safetensors", "h.0.attn.c_attn.weight");
  fs::create_directory(scratch / "folder");
  refuses(scratch / "folder", "holds no weights");

  for (std::size_t at : {std::size_t(3), bytes.size() / 2, bytes.size() - 1}) {
    std::string flipped = bytes;
    flipped[at] ^= 4;
    write(checkpoint + "/model.safetensors", flipped);
    refuses(good, "model.safetensors");
  }
  write(checkpoint + "/model.safetensors", bytes);
  std::string manifest = content(checkpoint + "/manifest.json");
  write(checkpoint + "/manifest.json", manifest.substr(0, manifest.size() / 2));
  refuses(checkpoint, "manifest.json");
}

TEST_CASE("a checkpoint of another recipe is no place to resume from") {
  Scratch scratch;
  std::string good = trained(scratch, "run", "2");
  REQUIRE(run({"export", "--out", scratch / "weights"}).code == 0);
  std::string manifest = fs::canonical(good + "/last/manifest.json").string();
  std::string text = content(manifest);
  text.replace(text.find("\"model.width\": 16"), 17, "\"model.width\": 32");
  write(manifest, text);  // its checksum no longer fits
  fails({"train", "--data", scratch / "text", "--out", good, "--resume", "--steps", "4"},
        "manifest.json");
}

TEST_CASE("a second run in a live folder is refused and disturbs nothing") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  Words words{"train", "--data", text, "--out", out, "--schedule.steps", "99999"};
  Process live(SINTER_SMALL, words);
  REQUIRE(wait_for([&] { return fs::exists(out + "/metrics.jsonl") && metrics(out).size() > 2; }));
  fails(words, "is in use by a live run");
  words.push_back("--resume");
  fails(words, "is in use by a live run");
  live.signal(SIGTERM);
  CHECK(live.wait().code == 75);
  std::vector<Json> rows = metrics(out);
  for (std::size_t s = 0; s < rows.size(); ++s) CHECK(rows[s]["step"] == s + 1);
  CHECK(Json::parse(content(out + "/last/manifest.json"))["step"] == rows.size());
}

TEST_CASE("a reader of the output that goes away does not end the training") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  std::string command = std::string(SINTER_SMALL) + " train --data " + text + " --out " + out +
                        " --steps 20 | head -c 1 > " + scratch / "head";
  CHECK(std::system(command.c_str()) == 0);
  CHECK(metrics(out).size() == 20);
  CHECK(fs::read_symlink(out + "/last") == "step-00000020");
}

TEST_CASE("links and pipes in a run's folder are refused, and lead nowhere") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000));
  write(scratch / "victim", "mine");
  Words words{"train", "--data", text, "--out", scratch / "run", "--steps", "2"};
  for (const char* name : {"lock", "metrics.jsonl"}) {
    fs::create_directory(scratch / "run");
    fs::create_symlink("../victim", scratch / (std::string("run/") + name));
    fails(words, std::string(name) + " is a link, and none is followed");
    fs::remove_all(scratch / "run");

    fs::create_directory(scratch / "run");
    REQUIRE(mkfifo((scratch / (std::string("run/") + name)).c_str(), 0600) == 0);
    Ended ended = run(words + Words{"--quiet"});
    CHECK(ended.code == 1);
    CHECK(ended.says(std::string(name) + " is not a regular file"));
    fs::remove_all(scratch / "run");
  }
  CHECK(content(scratch / "victim") == "mine");
}

TEST_CASE("a folder that is renamed or removed under a live run takes nothing with it") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000));
  for (bool renamed : {true, false}) {
    CAPTURE(renamed);
    std::string out = scratch / (renamed ? "run" : "removed"), moved = scratch / "moved";
    Words words{"train", "--data", text, "--out", out, "--schedule.steps", "99999", "--quiet"};
    Process live(SINTER_SMALL, words);
    REQUIRE(
        wait_for([&] { return fs::exists(out + "/metrics.jsonl") && metrics(out).size() > 2; }));
    if (renamed)
      fs::rename(out, moved);
    else
      fs::remove_all(out);
    live.signal(SIGTERM);
    Ended ended = live.wait();
    CHECK(ended.code == 75);
    CHECK(ended.says(renamed ? "run was moved while the run was live. It goes on in "
                             : "removed or its lock was removed while the run was live."));
    std::string now = renamed ? moved : out;
    std::vector<Json> rows = metrics(now);
    REQUIRE(rows.size() > 2);
    for (std::size_t s = 0; s < rows.size(); ++s) CHECK(rows[s]["step"] == s + 1);
    CHECK(Json::parse(content(now + "/last/manifest.json"))["step"] == rows.size());
    CHECK(fs::exists(out) == !renamed);
  }
}

}  // namespace sinter::detail::testing::adversarial_tests
