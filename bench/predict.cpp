// SPDX-License-Identifier: Apache-2.0
// What does forward alone cost, beside torch.compile in inference mode? GPT-2 256 wide gives the
// logits of the next token, and BERT 256 wide those of sentences' classes. Both sides have the same
// weights and take the same batches in turns. A row is void if the means of the logits' magnitudes
// differ by more than 1e-4.
//   ./sinter bench predict --data FILE --tokenizer PATH --peers PYTHON|new [--rounds N]
//                          [--threads N] [--only gpt2|bert] [--json FILE] [--svg FILE]
// FILE and PATH are those of ./sinter bench models. Batches have 16 sequences of 128 tokens.
#include "models.hpp"

using namespace sinter;

namespace {

struct language_model
    : Recipe<Gpt2<{.layers = 4,
                   .heads = 4,
                   .width = 256,
                   .vocabulary = 30522,
                   .positions = bench::longest}>,
             bench::Tokens<bench::longest, 30522>, Batch<{.global = 16, .micro = 16}>> {};

bench::Row row(const std::string& name, TrainerCore trainer, const std::string& model,
               const std::vector<HostBatch>& batches, const bench::Settings& settings) {
  const auto folder = settings.folder / name;
  bench::write_job(trainer, model, batches, settings, folder);
  const bench::Both both =
      bench::beside_transformers("predict", batches, settings, folder, [&](const HostBatch& batch) {
        double sum = 0;
        const Prediction logits = trainer.predict(batch);
        for (float logit : logits.values) sum += std::abs(double(logit));
        return sum / double(logits.values.size());
      });
  return {name,
          bench::median(both.ours),
          bench::median(both.peer),
          "torch.compile, inference mode",
          "ms/batch",
          both.apart,
          both.apart < 1e-4,
          bench::least_to_most(both.ours, both.peer)};
}

}  // namespace

int main(int argc, char** argv) try {
  std::string data, tokenizer;
  const bench::Settings settings(
      "Forward alone against torch.compile.", argc, argv, 15, [&](bench::CommandLine& line) {
        line.add_option("--data", data, "Sentences and their classes")->required();
        line.add_option("--tokenizer", tokenizer, "BERT's vocab.txt")->required();
      });
  if (settings.python.empty()) throw Error("Name a Python with transformers: --peers PYTHON|new.");
  setenv("TORCHINDUCTOR_CACHE_DIR", (settings.folder / "inductor").c_str(), 1);
  const std::size_t count = std::size_t(settings.rounds) + 1;
  auto batches = bench::batches_of(
      bench::full_length(bench::read_sentences(data, tokenizer, count * 16 * 24)), 16);
  batches.resize(std::min(batches.size(), count));
  bench::Report report(settings, "mean magnitude");
  if (settings.wants("gpt2"))
    report.print({row("gpt2, 16×128",
                      bench::make_trainer<language_model>({.seed = 1, .threads = settings.threads}),
                      "GPT2LMHeadModel", batches, settings)});
  if (settings.wants("bert"))
    report.print({row("bert, 16×128",
                      bench::make_trainer<bench::bert>({.seed = 1, .threads = settings.threads}),
                      "BertForSequenceClassification", batches, settings)});
  return report.write();
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
