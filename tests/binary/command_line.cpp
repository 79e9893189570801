// SPDX-License-Identifier: Apache-2.0
// What the binary says to right and wrong words.
#include "binary/support.hpp"
#include "cli/verb_rows.hpp"
#include "sinter/version.hpp"

namespace {

/// The words are wrong in themselves: nothing on standard output, one message, exit code 2.
void refuses(const std::vector<std::string>& words, const std::string& message,
             const std::string& binary = SINTER_SMALL) {
  CAPTURE(words);
  Ended ended = run(words, binary);
  CAPTURE(ended.err);
  CHECK(ended.code == 2);
  CHECK(ended.out.empty());
  CHECK(ended.err.starts_with("error: "));
  CHECK(ended.says(message));
}

}  // namespace

TEST_CASE("help and version go to standard output") {
  Ended help = run({"--help"});
  CHECK(help.code == 0);
  CHECK(help.err.empty());
  for (const auto& row : sinter::detail::cli::verb_rows) {
    const std::string verb(row.name), summary(row.summary);
    CAPTURE(verb);
    CHECK(help.out.find("\n  " + verb + " ") != help.out.npos);
    CHECK(help.out.find(summary) != help.out.npos);
    Ended of_verb = run({verb, "--help"});
    CHECK(of_verb.code == 0);
    if (row.flags.find("--json") != row.flags.npos)
      CHECK(of_verb.out.find("--json") != of_verb.out.npos);
    for (const char* of : {"0    done", "1    an error", "2    a wrong command line", "3    a loss",
                           "75   stopped by", "130  ended at once"})
      CHECK(of_verb.out.find(std::string("\n  ") + of) != of_verb.out.npos);
    CHECK(of_verb.out.find("\nExit codes:\n  0 ") != of_verb.out.npos);
  }
  CHECK(run({"train", "-h"}).out == run({"train", "--help"}).out);
  Ended told = run({"--version"});
  CHECK(told.code == 0);
  CHECK(told.out == "small (Sinter " + std::string(sinter::version()) + ")\n");
}

TEST_CASE("help of train lists the options of the recipe's policies and what is frozen") {
  std::string help = run({"train", "--help"}).out;
  CHECK(help.find("--optimizer.lr VALUE") != help.npos);
  CHECK(help.find("Default: 0.01; at least 0.") != help.npos);
  CHECK(help.find("--parallel.ranks VALUE") != help.npos);
  CHECK(help.find("--model.width") == help.npos);
  CHECK(help.find("  model.width                     16") != help.npos);
}

TEST_CASE("an unknown verb, flag or value names the nearest one") {
  refuses({"trian"}, "no verb 'trian'; the nearest is 'train'");
  refuses({"exprot"}, "the nearest is 'export'");
  refuses({"train", "--stpes", "4"}, "train has no flag '--stpes'; the nearest is '--steps'");
  refuses({"train", "--optimiser.lr", "1"}, "the nearest is '--optimizer.lr'");
  refuses({"train", "--momentom.beta", "1"}, "the nearest is '--optimizer.beta1'");
  refuses({"train", "--learning-rte", "1"}, "the nearest is '--optimizer.lr'");
  refuses({"generate", "--promt=a"}, "the nearest is '--prompt'");
  refuses({"train", "--data", "x", "--order", "shufled"}, "the nearest is 'shuffled'");
  refuses({"train", "--data", "x", "--order", "seq"}, "the nearest is 'sequential'");
  refuses({"train", "-q"}, "train has no flag '-q'");
}

TEST_CASE("the nearest flag is one that can be set, or none is named") {
  refuses({"train", "--model.widht", "32"}, "no flag '--model.widht'; `train --help` lists");
  refuses({"train", "--xyzzy", "32"}, "no flag '--xyzzy'; `train --help` lists its flags.");
  refuses({"eval", "--optimiser.epsilom", "1"}, "`eval --help` lists its flags.");
}

TEST_CASE("a word of another trainer is accepted where it means one flag") {
  const auto shown = [](const std::vector<std::string>& words) {
    Ended ended = run(words);
    CAPTURE(ended.err);
    CHECK(ended.code == 0);
    return ended.out;
  };
  for (const char* word : {"--lr", "--learning-rate", "--learning_rate", "--learningrate"})
    CHECK(shown({"describe", word, "0.125"}).find("optimizer.lr                0.125 ") !=
          std::string::npos);
  CHECK(shown({"describe", "--weight-decay=0.5"}).find("optimizer.weight_decay      0.5 ") !=
        std::string::npos);
  CHECK(shown({"describe", "--warmup_steps", "7"}).find("schedule.warmup             7 ") !=
        std::string::npos);
  refuses({"train", "--early_stopping_patience", "0"}, "--early-stop takes a whole number of at");
  refuses({"train", "--val-data", "A B=a"}, "train needs --data PATH");
  refuses({"train", "--data", "x", "--validation_file", "A B=a"},
          "--validation A B=a: 'A B' cannot");
  refuses({"train", "--config-file", "none", "--init-opt", "none"}, "--config is given 2 times");
  refuses({"train", "--max-steps", "0"}, "--steps takes a whole number of at least 1");
  refuses({"train", "--lr", "1", "--optimizer.lr", "1"}, "--optimizer.lr is given 2 times");
  refuses({"train", "--data", "--lr", "1"}, "--data needs a value, but '--lr' follows it");
  const std::string help = shown({"train", "--help"});
  CHECK(help.find("\n  --optimizer.lr                  --lr, --learning-rate, ") != help.npos);
  CHECK(help.find("\n  --steps                         --max-steps, ") != help.npos);
  CHECK(help.find("--momentum") == help.npos);  // AdamW has none
}

TEST_CASE("a word of another trainer that is no flag here is answered") {
  const auto answers = [](const std::string& word, const std::string& message) {
    refuses({"train", word, "1"}, message);
  };
  answers("--precision", "the recipe's precision decides it, which is Fp32. Choose Fp32, Bf16");
  answers("--optimizer", "the recipe's optimizer decides it, which is AdamW");
  answers("--batch-size", "Batch<{.global, .micro}>");
  answers("--batch-size", "The flag is --batch.global, now 8.");
  answers("--gradient-accumulation-steps", "A step accumulates by itself");
  answers("--warmup-ratio", "a number of steps, not a share");
  answers("--n-layers",
          "--n-layers is --model.layers here. That is no flag: model.layers is part "
          "of the recipe's type. Its value is 2.");
  answers("--momentum", "it would be optimizer.momentum, which this recipe's optimizer, AdamW, ");
  answers("--load-best-model-at-end", "The best checkpoint is always kept");
  answers("--early_stopping_threshold", "the recipe's EarlyStop<{.patience, .min_delta}>");
  answers("--validation-split", "The last tenth of --data is held out");
  answers("--greater-is-better", "A metric says by itself whether more is better");
  answers("--eval_strategy", "--eval-every N evaluates after every N steps");
  answers("-lr", "train has no flag '-lr'; write --optimizer.lr.");
  answers("--trainer.max_steps", "write --steps.");
  refuses({"eval", "--lr", "1"}, "That is a flag of train and describe, not of eval.");
  refuses({"eval", "--max-steps", "1"}, "--max-steps is --steps here. That is a flag of train,");
}

TEST_CASE("a verb is needed, and comes first") {
  refuses({},
          "A verb is missing: train, eval, generate, chat, predict, describe, export, report, ");
  for (const auto& row : sinter::detail::cli::verb_rows) refuses({}, std::string(row.name));
  refuses({"--steps", "4"}, "The first word must be a verb");
  refuses({""}, "There is no verb ''");
}

TEST_CASE("an option that is part of the type says so") {
  for (std::vector<std::string> words : {std::vector<std::string>{"train", "--model.width", "32"},
                                         {"train", "--model.width=32"},
                                         {"describe", "--model.width", "32"}}) {
    refuses(words, "model.width is part of the recipe's type");
    refuses(words, "Its value is 16.");
    refuses(words, "build again");
  }
  refuses({"train", "--batch.micro", "4"}, "batch.micro is part of the recipe's type");
}

TEST_CASE("a flag of another verb says whose it is") {
  refuses({"eval", "--steps", "4"}, "--steps is a flag of train, not of eval.");
  refuses({"generate", "--data", "x"},
          "--data is a flag of train, eval, tokenize and train-tokenizer, not of generate.");
  refuses({"train", "--prompt", "x"}, "--prompt is a flag of generate, not of train.");
  refuses({"describe", "--quiet"}, "not of describe.");
  refuses({"generate", "--pin"}, "--pin is a flag of train, eval and predict, not of generate.");
  refuses({"eval", "--optimizer.lr", "1"}, "--optimizer.lr is a flag of train and describe");
}

TEST_CASE("numbers are read strictly") {
  for (const char* bad :
       {"0", "-1", "-5", "1.5", "1e3", "ten", "", " 1", "1 ", "0x10", "+1", "nan"})
    refuses({"train", "--data", "x", "--steps", bad}, "--steps takes a whole number of at least 1");
  refuses({"train", "--data", "x", "--steps", "99999999999999999999"}, "--steps takes");
  refuses({"train", "--threads", "0"}, "--threads takes a whole number of at least 1, not '0'");
  refuses({"eval", "--threads", "-2"}, "--threads takes a whole number of at least 1, not '-2'");
  refuses({"train", "--threads", "3000000000"}, "at most 2147483647");
  refuses({"train", "--seed", "-1"}, "--seed takes a whole number of at least 0, not '-1'");
  refuses({"train", "--eval-every", "-1"}, "--eval-every takes");
  refuses({"train", "--save-every", "x"}, "--save-every takes");
  for (const char* bad : {"nan", "inf", "-1", "1e999", "1,5", "0.1x", ""})
    refuses({"train", "--optimizer.lr", bad}, "--optimizer.lr takes a number of at");
  refuses({"train", "--schedule.warmup", "-1"}, "--schedule.warmup takes a whole number");
  refuses({"train", "--schedule.steps", "1.5"}, "--schedule.steps takes a whole number");
  for (const char* bad : {"-0.1", "nan", "hot"})
    refuses({"generate", "--temperature", bad}, "--temperature takes a number of at least 0");
  refuses({"generate", "--top-k", "-1"}, "--top-k takes");
  refuses({"generate", "--tokens", "0"}, "--tokens takes a whole number of at least 1");
}

TEST_CASE("a flag needs its value, once") {
  refuses({"train", "--steps"}, "--steps needs a value");
  refuses({"train", "--data", "--steps", "4"}, "--data needs a value, but '--steps' follows it");
  refuses({"train", "--out", "--optimizer.lr=1"}, "--out needs a value");
  refuses({"train", "--steps", "4", "--steps", "5"}, "--steps is given 2 times");
  refuses({"train", "--pin=0"},
          "error: --pin is a switch and takes no value; --no-pin turns it off");
  refuses({"describe", "--json=no"}, "error: --json is a switch and takes no value");
  refuses({"describe", "text"}, "'text' belongs to no flag");
}

TEST_CASE("a missing argument that a verb needs is named") {
  refuses({"train"}, "train needs --data");
  refuses({"eval", "--data", "x"}, "eval needs --weights");
  refuses({"eval", "--weights", "x"}, "eval needs --data");
  refuses({"generate"}, "generate needs --weights");
  refuses({"export"}, "export needs --out");
}

TEST_CASE("flags that contradict each other are refused") {
  refuses({"train", "--data", "x", "--resume"}, "--resume needs --out");
  refuses({"train", "--data", "x", "--out", "y", "--resume", "--weights", "z"},
          "--resume and --weights exclude each other");
  refuses({"export", "--out", "x", "--seed", "1", "--weights", "z"}, "exclude each other");
}

TEST_CASE("a result that cannot be written is an error") {
  if (!fs::exists("/dev/full")) {
    MESSAGE("skipped: there is no /dev/full here");
    return;
  }
  Ended ended = Process(SINTER_SMALL, {"describe", "--json"}, "", "/dev/full").wait();
  CHECK(ended.code == 1);
  CHECK(ended.says("error: Cannot write to standard output"));
}

TEST_CASE("a recipe whose data is no text says so") {
  Scratch scratch;
  for (std::vector<std::string> words : {std::vector<std::string>{"train", "--data", "x"},
                                         {"eval", "--data", "x", "--weights", "y"},
                                         {"generate", "--weights", "y"}}) {
    Ended ended = run(words, SINTER_ROWS, scratch.path());
    CHECK(ended.code == 1);
    CHECK(ended.says("error: The recipe rows cannot " + words[0] + " here"));
    CHECK(ended.says("Trainer<rows>"));
  }
  CHECK(fs::is_empty(scratch.path()));
  CHECK(run({"describe", "--json"}, SINTER_ROWS).json()["tokens_per_step"] == 8);
  CHECK(run({"export", "--out", scratch / "e"}, SINTER_ROWS).code == 0);
  CHECK(fs::exists(scratch / "e/model.safetensors"));
}
