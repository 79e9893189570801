// SPDX-License-Identifier: Apache-2.0
// What describe and export say and write.
#include "binary/support.hpp"

namespace sinter::detail::testing::describe_tests {

TEST_CASE("describe --json has the plan and every option") {
  Json d = run({"describe", "--json"}).json();
  CHECK(d["recipe"] == "small");
  // wte 256·16, wpe 16·16, two blocks of 12·16² weights and 13·16 biases and norms, ln_f 2·16
  CHECK(d["parameters"] == 256 * 16 + 16 * 16 + 2 * (12 * 16 * 16 + 13 * 16) + 2 * 16);
  CHECK(d["tokens_per_step"] == 8 * 16);
  CHECK(d["flops_per_token"] == 6 * (256 * 16 + 2 * 12 * 16 * 16) + 6 * 2 * 16 * 16);
  CHECK(d["options"]["model.dropout"] == 0.1);
  CHECK(d["options"]["optimizer.lr"] == 0.01);
  CHECK(d["options"]["schedule.steps"] == 40);
  CHECK(d["options"]["parallel.ranks"] == 1);
  CHECK(d["options"]["parallel.bucket_bytes"] == 4096);
  CHECK(d["options"].size() == 7 + 1 + 5 + 3 + 1 + 2 + 4);
  CHECK(d["matmul"]["precision"] == "fp32");
  CHECK(d["matmul"]["unit"] == "own");
  CHECK(d["matmul"]["flops_per_s"] > 1e7);
  CHECK(d["evaluation_micro"].get<int>() > 2);
  CHECK(!d.contains("program"));
  CHECK(!d.contains("schedule"));
}

TEST_CASE("describe --json has what the text says") {
  for (const char* binary : {SINTER_SMALL, SINTER_RAMP, SINTER_ROWS}) {
    CAPTURE(binary);
    const Json d = run({"describe", "--json"}, binary).json();
    const std::string text = run({"describe"}, binary).out;
    auto said = [&](const std::string& part) { CHECK_MESSAGE(text.find(part) != text.npos, part); };
    said(": " + d["policies"]["model"].get<std::string>() + ", ");
    for (const Json& note : d["notes"]) said("note    " + note.get<std::string>() + "\n");
    std::size_t notes = 0;
    for (std::size_t at = 0; (at = text.find("\nnote    ", at)) != text.npos; ++at) ++notes;
    CHECK(d["notes"].size() == notes);
    said(d["matmul"]["text"]);
    for (const auto& [name, range] : d["ranges"].items()) said(range);
    CHECK(d["ranges"].contains("schedule.steps") == d["options"].contains("schedule.steps"));
    std::int64_t parameters = 0;
    for (const Json& p : d["parameter_list"]) {
      said("\n        " + p["name"].get<std::string>() + " ");
      std::int64_t size = 1;
      for (const Json& side : p["shape"]) size *= side.get<std::int64_t>();
      CHECK(p["size"] == size);
      parameters += size;
    }
    CHECK(d["parameters"] == parameters);
    said("the largest " + std::to_string(std::min<std::size_t>(16, d["buffers"].size())) + " of " +
         std::to_string(d["buffers"].size()) + "\n        " +
         d["buffers"][0]["name"].get<std::string>() + " ");
    for (std::size_t k = 0; k < d["try_first"].size(); ++k)
      said(std::to_string(k + 1) + ". " + d["try_first"][k].get<std::string>() + "\n");
    CHECK(d["flops_per_step"] ==
          d["tokens_per_step"].get<std::int64_t>() * d["flops_per_token"].get<std::int64_t>());
    CHECK(d["libraries"].get<std::int64_t>() > 1 << 20);
    said(" " + std::to_string(d["rows"].get<int>()) + " rows\n");
    CHECK((text.find("no multiple of 8") != text.npos) == !d["odd_sizes"].empty());
    for (const Json& odd : d["odd_sizes"])
      CHECK(odd["rows"].get<int>() * odd["columns"].get<int>());
  }
  CHECK(run({"describe", "--json", "--batch.global", "32"}).json()["micro_batches"] == 16);
}

TEST_CASE("the parts of the memory add up to the total") {
  for (const char* binary : {SINTER_SMALL, SINTER_ROWS}) {
    Json memory = run({"describe", "--json"}, binary).json()["memory"];
    std::int64_t sum = 0;
    for (const auto& [name, bytes] : memory.items())
      if (name != "total") sum += bytes.get<std::int64_t>();
    CHECK(sum == memory["total"].get<std::int64_t>());
    for (const char* part : {"parameters", "gradients", "optimizer", "activations", "workspace"})
      CHECK(memory.contains(part));
    CHECK(memory["optimizer"] == 2 * memory["parameters"].get<std::int64_t>());
  }
}

TEST_CASE("describe says what the copy takes that a checkpoint is written from") {
  Scratch scratch;
  std::string out = scratch / "run";
  fine({"train", "--data", write(scratch / "text", some_text(3000)), "--steps", "1", "--out", out});
  auto snapshot = run({"describe", "--json"}).json()["snapshot"].get<std::uintmax_t>();
  std::uintmax_t files = fs::file_size(out + "/last/model.safetensors") +
                         fs::file_size(out + "/last/state.safetensors");
  const std::uintmax_t headers = 10'000, padding = 10'000;
  CHECK(snapshot + headers > files);
  CHECK(snapshot < files + padding);
  CHECK(run({"describe"}).out.find("bytes beside these, while a checkpoint is written") !=
        std::string::npos);
}

TEST_CASE("describe says how the batch grows, and what is evaluated at once") {
  Ended d = run({"describe", "--batch_warmup.from", "4"}, SINTER_RAMP);
  CAPTURE(d.out);
  auto has = [&](const std::string& text) { return d.out.find(text) != d.out.npos; };
  CHECK(
      has("note    the batch grows from 4 sequences by 2 up to 8, over the first 60 sequences; "
          "the learning rate is scaled by the batch at hand\n"));
  CHECK(
      has("note    sequences are cut to 4 rows, growing in steps of 4 to 16 over the first 100 "
          "sequences\n"));
  CHECK(has("note    each micro-batch is padded to a multiple of 8 rows"));
  CHECK(has("batch_warmup.from"));
  int micro = run({"describe", "--json"}, SINTER_RAMP).json()["evaluation_micro"];
  CHECK(has("evaluation  micro-batch of " + std::to_string(micro) +
            " sequences, in the same memory\n"));
  Ended bad = run({"train", "--data", SINTER_RAMP, "--steps", "1", "--batch_warmup.from", "3"},
                  SINTER_RAMP);
  CHECK(bad.code == 1);
  CHECK(bad.err.find("batch_warmup.from and .increment must be multiples of 2") != bad.err.npos);
}

TEST_CASE("describe shows what a flag changes") {
  Json d = run({"describe", "--json", "--optimizer.lr", "3e-4", "--batch.global=64",
                "--parallel.ranks", "2"})
               .json();
  CHECK(d["options"]["optimizer.lr"] == 3e-4);
  CHECK(d["options"]["batch.global"] == 64);
  CHECK(d["options"]["parallel.ranks"] == 2);
  CHECK(d["tokens_per_step"] == 64 * 16);
}

TEST_CASE("describe prints the plan in words") {
  Ended d = run({"describe"});
  CHECK(d.code == 0);
  CHECK(d.err.empty());
  auto has = [&](const std::string& text) { return d.out.find(text) != d.out.npos; };
  CHECK(has("recipe  small: Gpt2, Bytes, Fp32, AdamW, CosineDecay, ClipNorm, Batch, KeepAll, Ddp"));
  CHECK(has("10,944 parameters"));
  CHECK(has("matmul  fp32: multiplied as it is, by "));
  CHECK(has("h.1.mlp.c_proj.weight"));
  CHECK(has("64 × 16"));
  CHECK(has("optimizer.lr"));
  CHECK(has("buffers of the training step"));
  CHECK(!has("program of the training step"));
}

TEST_CASE("--no-libtorch multiplies without LibTorch, and only where no layer needs it") {
  setenv("LD_DEBUG", "files", 1);
  const Ended own = run({"describe", "--no-libtorch"});
  unsetenv("LD_DEBUG");
  CHECK(own.code == 0);
  CHECK(own.out.find("multiplied as it is, by Sinter's own products; measured at ") !=
        own.out.npos);
  CHECK(own.says("file=libstdc++"));
  CHECK(!own.says("libc10"));  // which LibTorch needs
  CHECK(run({"describe", "--no-libtorch", "--json"}).json()["matmul"]["library"] == "sinter");

  const Ended layers = run({"describe", "--no-libtorch"}, SINTER_MNIST_CNN);
  CHECK(layers.code == 2);
  CHECK(layers.says("--no-libtorch: this binary is linked with LibTorch, which computes layers"));
  CHECK(run({"export", "--no-libtorch"}).says("--no-libtorch"));
}

TEST_CASE("describe lists the hooks that it found in each policy") {
  const std::string text = run({"describe"}, SINTER_RAMP).out;
  auto has = [&](const std::string& line) { return text.find(line) != text.npos; };
  CAPTURE(text);
  CHECK(has("hooks found in each policy\n"));
  CHECK(has("optimizer: AdamW              regions, casts\n"));
  CHECK(has("parallel: Single              none\n"));
  CHECK(has("batch_warmup: BatchWarmup     rules, next_batch, note\n"));
  Json hooks = run({"describe", "--json"}, SINTER_RAMP).json()["hooks"];
  CHECK(hooks["batch_warmup"] == Json{"rules", "next_batch", "note"});
  CHECK(hooks["clipping"].is_array());
  CHECK(hooks["data"].size() > 1);
}

TEST_CASE("describe --program prints the program of the step") {
  Json steps = run({"describe", "--json", "--program"}).json()["program"];
  REQUIRE(steps.size() > 10);
  CHECK(steps[0]["instruction"] == "loop");
  CHECK(steps[1]["instruction"] == "load");
  CHECK(steps[2] == Json{{"instruction", "forward"}, {"on", "wte+wpe+drop"}, {"when", "always"}});
  CHECK(steps.back()["instruction"] == "update");
  CHECK(steps.back()["on"] == "wte+wpe+drop … ln_f");
  int reduced = 0;
  for (const Json& step : steps) {
    if (step["instruction"] != "reduce") continue;
    CHECK(step["when"] == "last");
    ++reduced;
  }
  CHECK(reduced > 1);
  std::string text = run({"describe", "--program", "--batch.global", "32"}).out;
  CHECK(text.find("loop              16 micro-batches") != text.npos);
  CHECK(text.find("backward        h.1\n") != text.npos);
  CHECK(text.find("(in the last micro-batch)") != text.npos);
}

TEST_CASE("--schedule, the word of before, means --program and has its old key") {
  Json now = run({"describe", "--json", "--program"}).json();
  Json then = run({"describe", "--json", "--schedule"}).json();
  CHECK(then["schedule"] == now["program"]);
  CHECK(!then.contains("program"));
  Ended plain = run({"describe", "--schedule"});
  CHECK(plain.out.find("program of the training step") != plain.out.npos);
  std::string help = run({"describe", "--help"}).out;
  CHECK(help.find("--program") != help.npos);
  CHECK(help.find("--schedule ") == help.npos);
  CHECK(run({"describe", "--programm"}).says("the nearest is '--program'"));
  CHECK(run({"describe", "--schedul"}).says("the nearest is '--schedule."));
}

TEST_CASE("describe --weights says whether a folder fits") {
  Scratch scratch;
  const std::string folder = scratch / "small";
  fine({"export", "--out", folder});
  Json d = run({"describe", "--json", "--weights", folder}).json();
  CHECK(d["weights"]["path"] == folder);
  CHECK(d["weights"]["fit"] == true);
  CHECK(d["weights"]["fresh"].empty());
  CHECK(d["weights"]["left_out"].empty());
  CHECK(d["weights"]["tensors"] == 28);
  CHECK(d["weights"]["files"] == 1);
  CHECK(!run({"describe", "--json"}).json().contains("weights"));
  // The two embeddings, two blocks of 12, and the last norm's two.
  CHECK(fine({"describe", "--weights", folder})
            .out.find("weights " + folder + " fit: 28 tensors in 1 file\n") != std::string::npos);

  Ended other = run({"describe", "--weights", folder}, SINTER_REPLIES);
  check_refused(other, 1, "it describes another model.");
  CHECK(other.says("\n  n_embd: 16 in the file, 8 in this recipe"));
  const std::string file = folder + "/model.safetensors";
  Ended misfit = run({"describe", "--weights", file}, SINTER_REPLIES);
  check_refused(misfit, 1, "do not fit the model");
  CHECK(misfit.says("misshapen: wte.weight is [256, 16], expected [258, 8]"));
  Ended loaded = run({"export", "--out", scratch / "x", "--weights", file}, SINTER_REPLIES);
  CHECK(misfit.err == loaded.err);
  check_refused(run({"describe", "--weights", scratch / "none"}), 1, "does not exist");
}

TEST_CASE("describe --weights takes a run's folder") {
  Scratch scratch;
  const std::string out = scratch / "run";
  fine({"train", "--data", write(scratch / "text", some_text(3000)), "--steps", "1", "--out", out});
  CHECK(run({"describe", "--json", "--weights", out}).json()["weights"]["fit"] == true);
}

TEST_CASE("export writes a Hugging Face folder, of fresh weights or of given ones") {
  Scratch scratch;
  Json done = run({"export", "--out", scratch / "a", "--seed", "3", "--json"}).json();
  CHECK(done["folder"] == scratch / "a");
  CHECK(done["parameters"] == 10944);
  Json config = Json::parse(content(scratch / "a/config.json"));
  CHECK(config["model_type"] == "gpt2");
  CHECK(config["n_embd"] == 16);
  CHECK(config["bos_token_id"].is_null());
  Ended plain = run({"export", "--out", scratch / "b", "--weights", scratch / "a"});
  CHECK(plain.code == 0);
  CHECK(plain.out.find("10,944 parameters") != plain.out.npos);
  CHECK(content(scratch / "a/model.safetensors") == content(scratch / "b/model.safetensors"));
  CHECK(run({"export", "--out", scratch / "c", "--seed", "4", "--quiet"}).out.empty());
  CHECK(content(scratch / "a/model.safetensors") != content(scratch / "c/model.safetensors"));
  fine({"export", "--out", scratch / "d", "--weights", scratch / "a", "--max-shard-size", "20KB"});
  CHECK(!fs::exists(scratch / "d/model.safetensors"));
  CHECK(fine({"describe", "--weights", scratch / "d"}).out.find(" fit: 28 tensors in 3 files\n") !=
        std::string::npos);
  fine({"export", "--out", scratch / "e", "--weights", scratch / "d"});
  CHECK(content(scratch / "a/model.safetensors") == content(scratch / "e/model.safetensors"));
  for (const char* size : {"0", "-1", "5XB", "big"})
    check_refused(run({"export", "--out", scratch / "f", "--max-shard-size", size}), 2,
                  "--max-shard-size");
  Ended again = run({"export", "--out", scratch / "a"});
  CHECK(again.code == 1);
  CHECK(again.says("nothing was changed"));
}

}  // namespace sinter::detail::testing::describe_tests
