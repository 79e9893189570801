// SPDX-License-Identifier: Apache-2.0
// --config reads what --print-config prints and what run.json keeps.
#include <algorithm>

#include "binary/launched.hpp"
#include "cli/flags.hpp"

namespace sinter::detail::testing::config_tests {

/// A run that differs from the defaults in flags and options, without its folder.
Words training(const Scratch& scratch) {
  return {"train",
          "--data",
          write(scratch / "text", some_text(4000)),
          "--validation",
          write(scratch / "dev", some_text(700)),
          "--steps",
          "6",
          "--eval-every",
          "3",
          "--seed",
          "7",
          "--lr",
          "2e-3",
          "--early-stop",
          "5",
          "--keep",
          "3"};
}

/// The file's text is wrong: nothing on standard output, one message, exit code 2.
void refuses(const Scratch& scratch, const std::string& text, const std::string& message) {
  CAPTURE(text);
  const std::string file = write(scratch / "wrong.json", text);
  check_refused(run({"train", "--config", file, "--print-config"}), 2, file + message);
}

TEST_CASE("what --print-config prints makes the same run, and so does the run's run.json") {
  Scratch scratch;
  const Words words = training(scratch);
  const std::string typed = scratch / "typed", printed = scratch / "printed",
                    repeated = scratch / "repeated";
  const Ended shown = fine(words + Words{"--print-config"});
  CHECK(!fs::exists("runs"));
  CHECK(shown.says("from the command line: "));
  const Json config = Json::parse(shown.out);
  CHECK(config["recipe"] == "small");
  CHECK(config["optimizer.lr"] == 2e-3);
  CHECK(config["optimizer.beta1"] == 0.9);
  CHECK(config["model.width"] == 16);
  CHECK(config["steps"] == 6);
  CHECK(config["epochs"].is_null());
  CHECK(config["order"] == "shuffled");
  CHECK(config["as_text"] == false);
  CHECK(config["validation"] == Json{scratch / "dev"});
  fine(words + Words{"--out", typed});
  const std::string file = write(scratch / "config.json", shown.out);
  CHECK(fine({"train", "--config", file, "--print-config"}).out == shown.out);
  fine({"train", "--config", file, "--out", printed});
  require_same_end(typed, printed);
  const Ended again = run({"train", "--config", "../typed/run.json", "--out", repeated},
                          SINTER_SMALL, typed + "/../printed");
  REQUIRE_MESSAGE(again.code == 0, again.err);
  require_same_end(typed, repeated);
  CHECK(Json::parse(content(repeated + "/run.json"))[0]["config"] ==
        Json::parse(content(typed + "/run.json"))[0]["config"]);
}

TEST_CASE("the command line wins over the file of --config") {
  Scratch scratch;
  const std::string file = write(scratch / "config.json",
                                 R"({"steps": 6, "eval-every": 3, "optimizer": {"lr": 0.5},
                                     "tensorboard": true, "resume": null, "data": "a"})");
  const auto shown = [&](const Words& words) {
    const Ended ended = fine(Words{"train", "--print-config", "--config", file} + words);
    CHECK(ended.says("from " + file + ": "));
    return Json::parse(ended.out);
  };
  const Json plain = shown({});
  CHECK(plain["steps"] == 6);
  CHECK(plain["eval_every"] == 3);
  CHECK(plain["optimizer.lr"] == 0.5);
  CHECK(plain["tensorboard"] == true);
  CHECK(plain["resume"] == false);
  CHECK(plain["data"] == Json{"a"});
  const Json other = shown({"--epochs", "2", "--optimizer.lr", "0.25", "--data", "b", "c"});
  CHECK(other["steps"].is_null());  // --epochs excludes it
  CHECK(other["epochs"] == 2);
  CHECK(other["optimizer.lr"] == 0.25);
  CHECK(other["data"] == Json{"b", "c"});
}

TEST_CASE("each switch that a file turns on can be turned off on the command line") {
  Scratch scratch;
  for (const cli::VerbRow& row : cli::verb_rows) {
    CAPTURE(row.name);
    Json config = Json::object();
    Words negatives;
    for (const cli::Flag& flag : cli::all_flags()) {
      if (!flag.of(row.verb) || flag.negative().empty()) continue;
      std::string key(flag.name.substr(2));
      std::ranges::replace(key, '-', '_');
      config[key] = flag.optional() ? Json("auto") : Json(true);
      negatives.push_back(flag.negative());
    }
    const Words show{std::string(row.name), "--config",
                     write(scratch / "switches.json", config.dump()), "--print-config"};
    const Json on = Json::parse(fine(show).out), off = Json::parse(fine(show + negatives).out);
    for (const auto& [key, value] : config.items()) {
      CHECK(on[key] == value);
      CHECK(off[key] == false);
    }
  }
  check_refused(run({"train", "--json", "--no-json"}), 2,
                "--json and --no-json exclude each other");
  check_refused(run({"train", "--no-json", "--no-json"}), 2, "--no-json is given 2 times");
  check_refused(run({"train", "--libtorch=false"}), 2, "--libtorch is a switch and takes no value");
  check_refused(run({"train", "--json=false"}), 2, "takes no value; --no-json turns it off.");
  check_refused(run({"eval", "--no-tensorboard"}), 2, "--tensorboard is a flag of train, not of");
  CHECK(fine({"eval", "--help"}).out.find("Each switch has a negative form, such as --no-json") !=
        std::string::npos);
}

TEST_CASE("every verb takes --config, and does what its flags would do") {
  Scratch scratch;
  const std::string out = scratch / "run", text = write(scratch / "other", some_text(900)),
                    lines = write(scratch / "lines", "the king\nof the\n");
  fine(training(scratch) + Words{"--out", out});
  for (const Words& words :
       {Words{"eval", "--weights", out, "--data", text, "--json"},
        Words{"generate", "--weights", out, "--prompt", "the", "--tokens", "9", "--seed", "3",
              "--stop", "qqq", "zzz"},
        Words{"predict", "--weights", out, "--text", lines}, Words{"tokenize", "--text", lines},
        Words{"describe", "--optimizer.lr", "0.125", "--program", "--threads", "1", "--json"}}) {
    CAPTURE(words.front());
    const std::string file =
        write(scratch / "config.json", fine(words + Words{"--print-config"}).out);
    const Words by_file{words.front(), "--config", file};
    CHECK(Json::parse(fine(by_file + Words{"--print-config"}).out) == Json::parse(content(file)));
    if (words.front() != "describe") CHECK(fine(by_file).out == fine(words).out);
  }
  const std::string file =
      write(scratch / "config.json",
            fine({"export", "--weights", out, "--out", scratch / "a", "--print-config"}).out);
  fine({"export", "--config", file});
  fine({"export", "--config", file, "--out", scratch / "b"});
  CHECK(content(scratch / "a/model.safetensors") == content(scratch / "b/model.safetensors"));

  write(file, R"({"weights": "w", "text": "t"})");
  const Json other =
      Json::parse(fine({"predict", "--config", file, "--ids", "i", "--print-config"}).out);
  CHECK(other["ids"] == "i");
  CHECK(other["text"].is_null());
  write(file, R"({"weights": "w", "steps": 4})");
  check_refused(run({"eval", "--config", file}), 2,
                file + ": \"steps\": --steps is a flag of train, not of eval.");
  write(file, R"({"optimizer.lr": 4})");
  check_refused(run({"export", "--config", file}), 2,
                "--optimizer.lr is a flag of train and describe, not of export.");
}

TEST_CASE("a wrong key or value of --config names its place and what is right") {
  Scratch scratch;
  refuses(scratch, R"({"stpes": 4})", ": \"stpes\": train has no flag '--stpes'; the nearest is");
  refuses(scratch, R"({"learning_rate": 4})",
          ": \"learning_rate\": train has no flag '--learning-"
          "rate'; write --optimizer.lr.");
  refuses(scratch, R"({"optimizer": {"lrr": 1}})", ": \"optimizer.lrr\": train has no flag");
  refuses(scratch, R"({"prompt": "a"})", ": \"prompt\": --prompt is a flag of generate");
  refuses(scratch, R"({"config": "a"})", ": \"config\" is for the command line only.");
  refuses(scratch, R"({"steps": "six"})", ": \"steps\" takes a number, not the text \"six\".");
  refuses(scratch, R"({"steps": 0})", ": \"steps\" takes a whole number of at least 1, not '0'.");
  refuses(scratch, R"({"steps": 1.5})", ": \"steps\" takes a whole number of at least 1");
  refuses(scratch, R"({"tensorboard": "yes"})", ": \"tensorboard\" takes true or false, not the");
  refuses(scratch, R"({"data": [1]})", ": \"data\" takes a text, or a list of them, not the list");
  refuses(scratch, R"({"out": ["a"]})", ": \"out\" takes a text, not the list [\"a\"].");
  refuses(scratch, R"({"optimizer.lr": true})", ": \"optimizer.lr\" takes a number, not true.");
  refuses(scratch, R"({"optimizer.lr": -1})", ": \"optimizer.lr\" takes a number of at least 0");
  refuses(scratch, R"({"model.width": 32})", ": \"model.width\" is 32, and 16 in this binary");
  refuses(scratch, R"({"steps": 1, "steps": 2})",
          ": it is no JSON (it has the key 'steps' twice in one object).");
  refuses(scratch, R"({"eval_every": 1, "eval-every": 2})", ": \"eval-every\" is there twice");
  refuses(scratch, "{", ": it is no JSON (");
  refuses(scratch, "3", ": a configuration is an object of flags");
  refuses(scratch, R"([{"command": ["a", "train"]}])", ": no start in this list has a \"config\"");
  check_refused(run({"train", "--config", scratch / "none"}), 1, scratch / "none");
  check_refused(run({"train", "--print-config", "--resume", "--out", "a"}), 2,
                "--print-config and --resume exclude each other");
}

TEST_CASE("another recipe's configuration is said") {
  Scratch scratch;
  const std::string file =
      write(scratch / "config.json",
            R"({"recipe": "large", "policies": ["optimizer: Lion", "precision: Fp32"]})");
  const Ended ended = fine({"train", "--config", file, "--print-config"});
  CHECK(ended.says("is of the recipe large, and this binary is of small."));
  CHECK(ended.says("is of optimizer: Lion, and this binary of optimizer: AdamW."));
  CHECK(!ended.says("precision"));
}

TEST_CASE("a resumed run's run.json gives the configuration that it has begun with") {
  Scratch scratch;
  const std::string out = scratch / "run";
  fine(training(scratch) + Words{"--out", out});
  fine({"train", "--resume", "--out", out, "--steps", "8"});
  const Ended ended = fine({"train", "--config", out + "/run.json", "--print-config"});
  CHECK(ended.says("that the run has begun with; it was resumed 1 times"));
  CHECK(Json::parse(ended.out)["steps"] == 6);
}

TEST_CASE("a launcher's ranks win over those of a configuration") {
  Scratch scratch;
  const Ended shown = fine(training(scratch) + Words{"--threads", "1", "--print-config"});
  CHECK(Json::parse(shown.out)["parallel.ranks"] == 1);
  const std::string file = write(scratch / "config.json", shown.out);
  check_ended(Launched(2, {"train", "--config", file, "--out", scratch / "two"}).wait(), 0);
  CHECK(newest_step(scratch / "two") == 6);
}

TEST_CASE("a flag's usual value is the one that its help tells") {
  for (const cli::Flag& flag : cli::all_flags()) {
    if (flag.usual.empty()) continue;
    CAPTURE(flag.name);
    const std::string usual(flag.usual), help(flag.help);
    const bool told =
        help.find("Default: " + usual) != help.npos || help.find(usual + " (default)") != help.npos;
    CHECK(told);
  }
}

}  // namespace sinter::detail::testing::config_tests
