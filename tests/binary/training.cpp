// SPDX-License-Identifier: Apache-2.0
// What train writes, prints and reads.
#include <pty.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "binary/support.hpp"
#include "support/small_disk.hpp"

namespace sinter::detail::testing::training_tests {

TEST_CASE("a run folder holds checkpoints, links and a row a step") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(4000)), out = scratch / "run";
  Ended ended = run({"train", "--data", text, "--out", out, "--steps", "12", "--eval-every", "5",
                     "--save-every", "4"});
  REQUIRE_MESSAGE(ended.code == 0, ended.err);
  CHECK(fs::read_symlink(out + "/last") == "step-00000012");
  CHECK(fs::exists(out + "/best/model.safetensors"));
  CHECK(fs::exists(out + "/last/config.json"));
  std::vector<Json> rows = metrics(out);
  REQUIRE(rows.size() == 12);
  for (int s = 1; s <= 12; ++s) {
    const Json& row = rows[s - 1];
    CHECK(row["step"] == s);
    CHECK(row["tokens"] == s * 8 * 16);
    CHECK(row["loss"].get<double>() > 0);
    CHECK(row["grad_norm"].get<double>() > 0);
    CHECK(row["step_ms"].get<double>() > 0);
    CHECK(row["tokens_per_s"].get<double>() ==
          doctest::Approx(8 * 16 / row["step_ms"].get<double>() * 1000));
    CHECK(row.contains("val_loss") == (s == 5 || s == 10 || s == 12));
    CHECK(row["data_wait_ms"].get<double>() >= 0);
    CHECK(row["data_wait_ms"].get<double>() < row["step_ms"].get<double>());
    CHECK(row["predictions"] == 8 * 16);
    CHECK(row["rows"] == 8 * 16);
    CHECK(row.size() == (row.contains("val_loss") ? 13 : 11));
  }
  CHECK(rows[0]["loss"].get<double>() == doctest::Approx(std::log(256)).epsilon(0.05));
  CHECK(rows[0]["lr"].get<double>() == doctest::Approx(0.01 / 5));
  CHECK(rows[5]["lr"].get<double>() == doctest::Approx(0.01));
  CHECK(rows[11]["loss"].get<double>() < rows[0]["loss"].get<double>() - 0.5);
}

TEST_CASE("checkpoints come by steps or by minutes, and the newest ones are kept") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(4000));
  auto steps_in = [](const std::string& run) {
    Words steps;
    for (const auto& entry : fs::directory_iterator(run))
      if (const std::string step = entry.path().filename(); step.starts_with("step-"))
        steps.push_back(step.substr(12));
    std::ranges::sort(steps);
    return steps;
  };
  auto kept = [&](const std::string& name, const Words& more) {
    fine(Words{"train", "--data", text, "--out", scratch / name, "--steps", "6", "--eval-every",
               "100000"} +
         more);
    return steps_in(scratch / name);
  };
  CHECK(kept("a", {"--save-every", "1"}) == Words{"5", "6"});
  CHECK(kept("b", {"--save-every", "1", "--keep", "4"}) == Words{"3", "4", "5", "6"});
  CHECK(kept("c", {"--save-every", "0", "--keep", "9"}) == Words{"6"});
  CHECK(kept("d", {"--save-every", "0", "--keep", "9", "--save-minutes", "1e-9"}) ==
        Words{"1", "2", "3", "4", "5", "6"});
  CHECK(kept("e", {"--save-every", "0", "--keep", "9", "--save-minutes", "60"}) == Words{"6"});

  // A resumed run keeps as many as before, and as many as it is told, also where it takes no step.
  auto kept_after = [&](const std::string& name, const Words& more) {
    fine(Words{"train", "--resume", "--out", scratch / name, "--eval-every", "100000"} + more);
    return steps_in(scratch / name);
  };
  CHECK(kept_after("b", {"--steps", "8", "--save-every", "1"}) == Words{"5", "6", "7", "8"});
  CHECK(kept_after("d", {"--steps", "6"}) == Words{"1", "2", "3", "4", "5", "6"});
  CHECK(kept_after("d", {"--steps", "6", "--keep", "3"}) == Words{"4", "5", "6"});
  CHECK(kept_after("d", {"--steps", "7"}) == Words{"5", "6", "7"});
}

TEST_CASE("a disk without room for one checkpoint ends a run before its first step") {
  Scratch scratch;
  const fs::path disk = scratch / "disk";
  if (!mount_small(disk, "100k")) {
    MESSAGE("skipped: mounting a tmpfs is not allowed here");
    return;
  }
  const std::string text = write(scratch / "text", some_text(4000));
  const Ended ended = run({"train", "--data", text, "--out", disk / "run", "--steps", "6"});
  CHECK(ended.code == 1);
  CHECK(ended.says("MiB free, and a checkpoint takes 0.1 MiB"));
  CHECK(ended.says("name a folder on another disk"));
  CHECK(metrics(disk / "run").empty());
  CHECK(::umount2(disk.c_str(), MNT_DETACH) == 0);
}

TEST_CASE("val_loss is the loss over the last tenth, and best has the lowest") {
  Scratch scratch;
  std::string all = some_text(4001);
  std::string text = write(scratch / "text", all), out = scratch / "run";
  std::string tail = write(scratch / "tail", all.substr(4001 - 400));
  std::vector<std::string> words{"train", "--data", text, "--out", out, "--eval-every", "4"};
  for (const char* word : {"--steps", "16", "--optimizer.lr", "0.2", "--json"})
    words.push_back(word);
  Json summary = run(words).json();
  double best = 1e9;
  int best_step = 0;
  for (const Json& row : metrics(out))
    if (row.contains("val_loss") && row["val_loss"] < best) {
      best = row["val_loss"];
      best_step = row["step"];
    }
  Json evaluated = run({"eval", "--json", "--weights", out + "/best", "--data", tail}).json();
  CHECK(evaluated["tokens"] == 399);
  CHECK(evaluated["loss"].get<double>() == doctest::Approx(best).epsilon(1e-6));
  char name[32];
  std::snprintf(name, sizeof name, "step-%08d", best_step);
  CHECK(fs::read_symlink(out + "/best") == name);
  CHECK(summary["steps"] == 16);
  CHECK(summary["tokens"] == 16 * 8 * 16);
  CHECK(summary["val_loss"] == metrics(out).back()["val_loss"]);
  CHECK(summary["loss"] == metrics(out).back()["loss"]);
  CHECK(summary["bits_per_byte"].get<double>() ==
        doctest::Approx(summary["val_loss"].get<double>() / std::numbers::ln2));
  CHECK(summary["seconds"].get<double>() > 0);
  CHECK(fs::equivalent(summary["checkpoint"].get<std::string>(), out + "/last"));
}

TEST_CASE("sequential order walks the windows of eval, holds nothing out and restarts") {
  Scratch scratch;
  // 19 whole windows of 16 and a rest: two batches of 8, then 3 windows that fill none.
  std::string all = some_text(19 * 16 + 1 + 7), out = scratch / "run";
  std::string text = write(scratch / "text", all);
  Ended ended = run({"train", "--data", text, "--out", out, "--order", "sequential", "--steps", "3",
                     "--optimizer.lr", "0", "--seed", "5"});
  REQUIRE_MESSAGE(ended.code == 0, ended.err);
  std::vector<Json> rows = metrics(out);
  REQUIRE(rows.size() == 3);
  CHECK(!rows[2].contains("val_loss"));
  CHECK(!fs::exists(out + "/best"));
  for (int s = 0; s < 3; ++s) {
    std::string part = write(scratch / "part", all.substr(s % 2 * 8 * 16, 8 * 16 + 1));
    Json loss = run({"eval", "--json", "--weights", out, "--data", part}).json();
    CHECK(loss["tokens"] == 8 * 16);
    // Training drops a tenth of the values out, evaluation none: near, not equal.
    CHECK(loss["loss"].get<double>() ==
          doctest::Approx(rows[s]["loss"].get<double>()).epsilon(0.01));
  }
  std::string other = write(scratch / "other", some_text(8 * 16));
  Ended refused = run({"train", "--data", other, "--out", scratch / "no", "--order", "sequential"});
  CHECK(refused.code == 1);
  CHECK(refused.says("128 bytes"));
  CHECK(!fs::exists(scratch / "no"));
}

TEST_CASE("data are files and folders in the order given") {
  Scratch scratch;
  fs::create_directories(scratch / "d/b");
  std::string all = some_text(3000);
  write(scratch / "d/b/2", all.substr(1000, 1000));
  write(scratch / "d/a", all.substr(0, 1000));
  std::string last = write(scratch / "last", all.substr(2000));
  std::string whole = write(scratch / "whole", all);
  auto trained = [&](const std::string& name, std::vector<std::string> data) {
    std::vector<std::string> words{"train", "--data"};
    words.insert(words.end(), data.begin(), data.end());
    words.insert(words.end(), {"--out", scratch / name, "--steps", "3", "--quiet"});
    Ended ended = run(words);
    CHECK_MESSAGE(ended.code == 0, ended.err);
    CHECK(ended.out.empty());
    return lasting(scratch / name);
  };
  auto expected = trained("1", {whole});
  CHECK(trained("2", {scratch / "d", last}) == expected);
  CHECK(trained("3", {scratch / "d/a", scratch / "d/b", last}) == expected);
  CHECK(trained("4", {last, scratch / "d"}) != expected);
}

TEST_CASE("the seed decides weights, shuffle and dropout") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000));
  auto trained = [&](const std::string& name, const std::string& seed) {
    Ended ended =
        run({"train", "--data", text, "--out", scratch / name, "--steps", "2", "--seed", seed});
    CHECK_MESSAGE(ended.code == 0, ended.err);
    return lasting(scratch / name);
  };
  auto first = trained("a", "18446744073709551615");
  CHECK(trained("b", "18446744073709551615") == first);
  CHECK(trained("c", "0") != first);
}

TEST_CASE("train starts from given weights with a fresh optimizer") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000));
  REQUIRE(run({"train", "--data", text, "--out", scratch / "a", "--steps", "10"}).code == 0);
  for (const std::string& weights :
       {scratch / "a", scratch / "a/last", scratch / "a/last/model.safetensors"}) {
    std::string out = weights + ".next";
    std::replace(out.begin() + 1, out.end(), '/', '-');
    out = scratch / out;
    Ended ended =
        run({"train", "--data", text, "--out", out, "--steps", "2", "--weights", weights});
    REQUIRE_MESSAGE(ended.code == 0, ended.err);
    CHECK(metrics(out)[0]["step"] == 1);
    CHECK(metrics(out)[0]["lr"].get<double>() == doctest::Approx(0.002));
    CHECK(metrics(out)[0]["loss"].get<double>() < 4.5);
  }
}

TEST_CASE("without --out a fresh folder is made and named") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000));
  for (const char* folder : {"runs/small-1", "runs/small-2"}) {
    Ended ended = run({"train", "--data", text, "--steps", "1"}, SINTER_SMALL, scratch.path());
    CHECK(ended.code == 0);
    CHECK(fs::exists(scratch / folder + std::string("/last/manifest.json")));
    CHECK(ended.out.find(folder) != ended.out.npos);
  }
}

TEST_CASE("train prints a header and plain lines into a pipe, and one line of JSON with --json") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000));
  Ended plain = run({"train", "--data", text, "--out", scratch / "a", "--steps", "3"});
  auto has = [](const std::string& all, const std::string& part) {
    return all.find(part) != all.npos;
  };
  for (const char* part : {"recipe  small: Gpt2, Bytes",
                           "10,944 parameters",
                           "activations",
                           "total",
                           "device  ",
                           "matmul  fp32: multiplied as it is, by ",
                           "options seed 0\n",
                           "data    3,000 bytes in 1 file, the last 300 held out",
                           "steps 1 to 3",
                           "step 1/3  loss 5.",
                           "  norm ",
                           "  lr 2.00e-03",
                           " tok/s",
                           "FLOP/s  ",
                           " left",
                           "validation loss",
                           ", the best so far\n",
                           "Speed: mean ",
                           " tok/s over 3 steps, median ",
                           "bits per byte",
                           "saved in"})
    CHECK_MESSAGE(has(plain.out, part), part);
  CHECK(!has(plain.out, "% of matmul"));  // no rate can be measured that a step is a share of
  CHECK(!has(plain.out, "\r"));
  CHECK(!has(plain.out, "\033"));
  CHECK(plain.err.empty());
  Ended json = run({"train", "--data", text, "--out", scratch / "b", "--steps", "3", "--json"});
  CHECK(json.json()["steps"] == 3);
  CHECK(has(json.err, "step 3/3"));
  Ended quiet =
      run({"train", "--data", text, "--out", scratch / "c", "--steps", "3", "--json", "--quiet"});
  CHECK(quiet.json()["steps"] == 3);
  CHECK(quiet.err.empty());
}

TEST_CASE("train updates one live line in a terminal") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000)), out = scratch / "a", shown;
  int terminal = -1;
  pid_t pid = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (pid < 0) {
    MESSAGE("skipped: this machine has no pseudo-terminals");
    return;
  }
  if (pid == 0) {
    execl(SINTER_SMALL, SINTER_SMALL, "train", "--data", text.c_str(), "--out", out.c_str(),
          "--steps", "30", "--eval-every", "20", nullptr);
    _exit(127);
  }
  char buffer[4096];
  for (ssize_t n; (n = read(terminal, buffer, sizeof buffer)) > 0;) shown.append(buffer, n);
  close(terminal);
  int status = 0;
  waitpid(pid, &status, 0);
  CHECK(status == 0);
  std::size_t first = shown.find("step  1/30"), evaluated = shown.find("step 20/30");
  REQUIRE(first != shown.npos);
  REQUIRE(evaluated != shown.npos);
  CHECK(shown.substr(first, shown.find('\n', first) - first).find("\r\033[K") != shown.npos);
  CHECK(shown.find("[") < first);  // a bar
  CHECK(shown.find("3% step  1/30") != shown.npos);
  CHECK(shown.find("step 30/30") > evaluated);
  CHECK(shown.substr(first, evaluated - first).find('\n') == shown.npos);  // drawn over
  CHECK(shown.find("Done after 30 steps") != shown.npos);
}

TEST_CASE("more ranks take the same steps, to rounding") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000));
  for (const char* ranks : {"1", "2", "4"})
    REQUIRE(run({"train", "--data", text, "--out", scratch / ranks, "--steps", "6",
                 "--parallel.ranks", ranks})
                .code == 0);
  for (const char* ranks : {"2", "4"})
    for (int s = 0; s < 6; ++s)
      CHECK(metrics(scratch / ranks)[s]["loss"].get<double>() ==
            doctest::Approx(metrics(scratch / "1")[s]["loss"].get<double>()).epsilon(1e-5));
  Ended odd = run({"train", "--data", text, "--out", scratch / "odd", "--parallel.ranks", "3"});
  CHECK(odd.code == 1);
  CHECK(odd.says("3 ranks"));
  CHECK(!fs::exists(scratch / "odd"));
}

TEST_CASE("a loss that is not finite stops the run and names the last good checkpoint") {
  Scratch scratch;
  std::string text = write(scratch / "text", some_text(3000));
  Ended ended = run({"train", "--data", text, "--out", scratch / "run", "--optimizer.lr", "1e30",
                     "--save-every", "1", "--eval-every", "100000", "--schedule.warmup", "0"});
  CHECK(ended.code == 3);
  CHECK(ended.says("is not finite, so training stops"));
  CHECK(ended.says("The last good checkpoint is " + scratch / "run/step-0000000"));
  for (const Json& row : metrics(scratch / "run")) CHECK(row["loss"].is_number());
  CHECK(fs::exists(scratch / "run/last/manifest.json"));
}

}  // namespace sinter::detail::testing::training_tests
