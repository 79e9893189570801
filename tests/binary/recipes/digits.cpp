// SPDX-License-Identifier: Apache-2.0
// A recipe with a data policy of its own that has a vocabulary: digits are tokens, and so is the
// end of a line.
#include <sinter/sinter.hpp>
using namespace sinter;

/// -1 where no token stands for the letter.
int token_of(char letter) {
  if (letter == '\n') return 10;
  return letter >= '0' && letter <= '9' ? letter - '0' : -1;
}

struct Digits {
  using slot = slot::data;
  static constexpr int context = 8, vocabulary = 11;

  static OpenedData open(const DataRequest& request) {
    const auto tokens = std::make_shared<const std::vector<std::uint16_t>>(read(request.paths));
    const std::span<const std::uint16_t> all = *tokens;
    const auto& training = request.training;
    const auto held_out = std::size_t((training ? training->held_out : 1) * double(all.size()));
    OpenedData opened;
    opened.text = token_unit.count(std::int64_t(all.size()));
    if (training) {
      const auto text = all.first(all.size() - held_out);
      const WindowShape shape{context, training->sequences};
      if (training->order == Order::sequential)
        opened.training = AnySource(SequentialWindows(text, shape, training->shapes), tokens);
      else
        opened.training =
            AnySource(ShuffledWindows(text, shape, training->seed, training->shapes), tokens);
    }
    if (held_out > 0)
      opened.evaluation = AnySource(
          EvaluationWindows(all.last(held_out), {context, request.evaluation_sequences}), tokens);
    opened.evaluation_size = std::int64_t(held_out);
    return opened;
  }

  static Tokenizer tokenizer() {
    return {
        .encode =
            [](std::string_view text) {
              std::vector<std::int32_t> tokens;
              for (char letter : text) tokens.push_back(token_of(letter));
              if (std::ranges::count(tokens, -1) > 0)
                throw ArgumentError("'" + std::string(text) +
                                    "' has more than digits. Use 0 to 9 only.");
              return tokens;
            },
        .decode = [](std::int32_t token) { return token == 10 ? "\n" : std::to_string(token); }};
  }

 private:
  static std::vector<std::uint16_t> read(const std::vector<std::string>& paths) {
    const ByteCorpus corpus(paths);
    std::vector<std::uint16_t> tokens;
    int line = 1;
    for (unsigned char letter : corpus.bytes()) {
      const int token = token_of(char(letter));
      if (token < 0)
        throw FileError("Line " + std::to_string(line) + " of the data has '" +
                        std::string(1, char(letter)) + "', which is no digit. Take it out.");
      tokens.push_back(std::uint16_t(token));
      line += letter == '\n';
    }
    return tokens;
  }
};

struct digits
    : Recipe<Gpt2<{.layers = 1, .heads = 2, .width = 16, .vocabulary = 11, .positions = 8}>, Digits,
             AdamW<{.lr = 1e-2}>, Batch<{.global = 8, .micro = 2}>,
             BatchWarmup<{.from = 2, .sequences = 60}>> {};

int main(int argc, char** argv) { return run<digits>(argc, argv); }
