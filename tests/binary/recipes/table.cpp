// SPDX-License-Identifier: Apache-2.0
// A recipe with a data policy of its own: rows of numbers from text files, and an option that is a
// flag.
#include <sinter/sinter.hpp>

#include <charconv>
using namespace sinter;

/// Rows of inputs and of one target.
struct Numbers {
  static constexpr int in = 2;
  std::vector<float> inputs, targets;

  std::int64_t rows() const { return std::int64_t(targets.size()); }
  /// Takes the numbers of one line; false where they are not `in` + 1, with commas between.
  bool add(std::string_view line) {
    const char *at = line.data(), *end = at + line.size();
    for (int column = 0; column <= in; ++column) {
      float number;
      const auto [stopped, error] = std::from_chars(at, end, number);
      if (error != std::errc{}) return false;
      (column < in ? inputs : targets).push_back(number);
      if (column < in && (stopped == end || *stopped != ',')) return false;
      at = stopped + (column < in);
    }
    return at == end;
  }
  void add_file(std::string_view text, const std::string& path, int skip) {
    for (int line = 1; !text.empty(); ++line) {
      const std::size_t length = std::min(text.find('\n'), text.size());
      if (line > skip && !add(text.substr(0, length)))
        throw FileError(path + ", line " + std::to_string(line) + ": '" +
                        std::string(text.substr(0, length)) + "' is not " + std::to_string(in + 1) +
                        " numbers with commas between. Correct it, or leave out lines at the "
                        "beginning of the files with --data.skip N.");
      text.remove_prefix(std::min(length + 1, text.size()));
    }
  }
};

/// skip: lines at the beginning of each file that hold no numbers.
struct TableOptions {
  int skip = 0;
  SINTER_FIELDS((skip).at_least(0).adjustable())
};

template <TableOptions O = {}>
struct Table {
  using slot = slot::data;
  using Options = TableOptions;
  static constexpr Options options = O;
  static constexpr int context = 1, vocabulary = 0;
  static constexpr std::string_view paths_help = "Files of rows: two inputs and a target a line.";

  static std::shared_ptr<const Numbers> read(const std::vector<std::string>& paths, int skip) {
    const ByteCorpus corpus(paths);
    auto numbers = std::make_shared<Numbers>();
    auto rest = std::string_view(reinterpret_cast<const char*>(corpus.bytes().data()),
                                 corpus.bytes().size());
    for (const ByteCorpus::File& file : corpus.files()) {
      numbers->add_file(rest.substr(0, std::size_t(file.bytes)), file.path, skip);
      rest.remove_prefix(std::size_t(file.bytes));
    }
    return numbers;
  }

  static OpenedData open(const Options& options, const DataRequest& request) {
    const auto numbers = read(request.paths, options.skip);
    const auto& training = request.training;
    const double share = training ? training->held_out : 1;
    const auto held_out = std::int64_t(share * double(numbers->rows()));
    const std::int64_t trained = numbers->rows() - held_out;
    if ((training && trained < 1) || (share > 0 && held_out < 1))
      throw ArgumentError("The data have " + row_unit.count(numbers->rows()) +
                          ", which is too few to train and evaluate on. Give more.");
    const std::span<const float> inputs = numbers->inputs, targets = numbers->targets;
    const auto width = std::size_t(Numbers::in), split = std::size_t(trained);
    OpenedData opened;
    opened.text = row_unit.count(numbers->rows());
    if (training) {
      opened.training = AnySource(
          ArrayData(inputs.first(split * width), Numbers::in, targets.first(split), 1,
                    {training->sequences, training->order, training->seed, training->shapes}),
          numbers);
      if (held_out > 0)
        opened.text += ", of which the last " + std::to_string(held_out) + " validate";
    }
    if (held_out > 0)
      opened.evaluation =
          AnySource(EvaluationArrays(inputs.subspan(split * width), Numbers::in,
                                     targets.subspan(split), 1, request.evaluation_sequences),
                    numbers);
    opened.evaluation_size = held_out;
    return opened;
  }
};

struct table : Recipe<Mlp<{.in = Numbers::in, .hidden = 8, .out = 1}>, Table<>, AdamW<{.lr = 1e-2}>,
                      Ddp<{.ranks = 1}>, Batch<{.global = 8, .micro = 2}>> {};

int main(int argc, char** argv) { return run<table>(argc, argv); }
