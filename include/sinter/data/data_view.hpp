// What a data policy offers to the verbs of a binary.
//
// A data policy says how long its sequences are and which ids there may be (DataPolicy in
// recipe/concepts.hpp). That is enough for a program that feeds a trainer itself. To let the binary
// read data, too, a policy offers static members; each may be left out:
//   open        OpenedData open(const DataRequest&): reads what --data names. With it, `train` and
//               `eval` work, with all of their flags.
//   tokenizer   Tokenizer tokenizer(): text to tokens and back. With it, `generate` works.
//   unit        constexpr DataUnit: what a prediction is of, and the figures that its loss gives.
//               Where it is not said: token_unit if there is a vocabulary, else row_unit.
//   paths_help  constexpr std::string_view: what --data takes, for --help. Sentences; lines of up
//               to 64 letters.
// A policy with options may take them as they are when the binary runs, its adjustable ones with
// the values of their flags: open(const Options&, const DataRequest&), tokenizer(const Options&).
// A member of one of these names and of another signature is a compile error.
//
// What open() promises:
//   mistakes    What the user did wrong is a FileError or an ArgumentError that names the file, the
//               line or byte in it, what was expected, and what to do.
//   time        All that can go wrong goes wrong in open(), before a run's folder is made.
//   lifetime    The sources own what they look into (AnySource's second argument), or copy it.
//   training    Its source gives request.training's batches, in that order, from that seed, as
//               large as `shapes` says; it never ends, unless the run shall end with it. Its
//               SamplerState has a hash of the data and an order whose name begins with "shuffled"
//               or "sequential", whichever was asked for: a resumed run learns its order there.
//   evaluation  Its source is finite, and gives batches of at most evaluation_sequences sequences.
// Batches have the ids and values that the model's trace asks for, in its order (HostBatch).
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sinter/data/any_source.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"
#include "sinter/data/unit.hpp"

namespace sinter {

/// What a verb asks a data policy to open.
struct DataRequest {
  /// How training takes the data.
  struct Training {
    Order order = Order::shuffled;
    double held_out = 0;     // the share to keep from training and evaluate, in [0, 1)
    std::uint64_t seed = 0;  // of the shuffle
    int sequences = 1;       // of a global batch
    BatchShapes shapes{};    // where the recipe changes its batches; else empty
  };

  std::vector<std::string> paths;      // what --data names, in that order; at least one
  int evaluation_sequences = 1;        // at most, in a batch to evaluate
  std::optional<Training> training{};  // none: nothing trains, and all of the data is evaluated
};

/// Data that are open.
struct OpenedData {
  /// What was read, for the header of a run: "1,000 rows in 2 files, the last 100 held out …".
  std::string text{};
  std::optional<AnySource> training{};    // where the request asks for it
  std::optional<AnySource> evaluation{};  // all of the data, or what is held out; none: nothing is
  std::int64_t evaluation_size = 0;       // units in it: how long it takes, against training's rows
};

/// A data policy without its type.
struct DataView {
  DataUnit unit{};
  std::string_view paths_help{};
  std::function<OpenedData(const DataRequest&)> open{};  // empty: a program feeds the trainer
  std::function<Tokenizer()> tokenizer{};                // empty: there is no text to continue
};

}  // namespace sinter
