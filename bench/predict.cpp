// SPDX-License-Identifier: Apache-2.0
// What does forward alone cost, beside torch.compile in inference mode? GPT-2 and an encoder-decoder,
// 256 wide, give the logits of the next token, and BERT 256 wide those of sentences' classes. Both
// sides have the same weights and take the same batches in turns. A row is void if the means of the
// logits' magnitudes differ by more than 1e-4.
//   ./sinter bench predict --data FILE --dialogues FILE --tokenizer PATH --peers PYTHON|new
//                          [--rounds N] [--threads N] [--only gpt2|bert|marian] [--json FILE]
//                          [--svg FILE]
// The files are those of ./sinter bench models. Batches have 16 sequences of 128 tokens, on both sides
// of the encoder-decoder.
#include "models.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

struct language_model
    : Recipe<Gpt2<{.layers = 4,
                   .heads = 4,
                   .width = 256,
                   .vocabulary = bench::vocabulary,
                   .positions = bench::longest}>,
             bench::Tokens<bench::longest, bench::vocabulary>, Batch<{.global = 16, .micro = 16}>> {
};
/// The same sentences, without their classes.
const bench::Subject of_tokens{"GPT-2",
                               "GPT2LMHeadModel",
                               {0, pooled(0)},
                               bench::make_trainer<language_model>,
                               bench::of_sentences.open};

bench::Row row(const bench::Subject& subject, const std::string& file, const std::string& tokenizer,
               const bench::Settings& settings) {
  const auto folder = settings.folder / subject.name;
  const std::size_t count = std::size_t(settings.rounds) + 1;
  auto batches = bench::batches_of(
      subject,
      bench::full_length(subject, bench::read_examples(subject, file, tokenizer, count * 16 * 24)),
      16);
  batches.resize(std::min(batches.size(), count));
  TrainerCore trainer = subject.trainer({.seed = 1, .threads = settings.threads});
  bench::write_job(trainer, subject, batches, settings, folder);
  const bench::Both both =
      bench::beside_transformers("predict", batches, settings, folder, [&](const HostBatch& batch) {
        double sum = 0;
        const Prediction logits = trainer.predict(batch);
        for (float logit : logits.values) sum += std::abs(double(logit));
        return sum / double(logits.values.size());
      });
  return {subject.name + ", 16×128",
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
  std::string data, dialogues, tokenizer;
  const bench::Settings settings(
      "Forward alone against torch.compile.", argc, argv, 15, [&](bench::CommandLine& line) {
        line.add_option("--data", data, "Sentences and their classes")->required();
        line.add_option("--dialogues", dialogues, "Dialogues as JSON lines")->required();
        line.add_option("--tokenizer", tokenizer, "BERT's vocab.txt")->required();
      });
  if (settings.python.empty()) throw Error("Name a Python with transformers: --peers PYTHON|new.");
  setenv("TORCHINDUCTOR_CACHE_DIR", (settings.folder / "inductor").c_str(), 1);
  bench::Report report(settings, "mean magnitude");
  if (settings.wants("gpt2")) report.print({row(of_tokens, data, tokenizer, settings)});
  if (settings.wants("bert")) report.print({row(bench::of_sentences, data, tokenizer, settings)});
  if (settings.wants("marian"))
    report.print({row(bench::of_replies, dialogues, tokenizer, settings)});
  return report.write();
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
