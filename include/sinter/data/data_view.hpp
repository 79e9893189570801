// SPDX-License-Identifier: Apache-2.0
// What a data policy offers to the verbs of a binary.
//
// A data policy says how long its sequences are and which ids there may be (DataPolicy in
// policy/concepts.hpp). That is enough for a program that feeds a trainer itself. For the binary to
// read data, too, a policy offers static members, each of which may be left out:
//   open        OpenedData open(const DataRequest&) reads what --data names. With it, `train` and
//               `eval` work, with all of their flags.
//   tokenizer   Tokenizer tokenizer() turns text into tokens and back. With it, `generate` works.
//   prompt      Prompt prompt(const Tokenizer&, std::string_view text) says what `generate` shows to
//               the model for the text of --prompt. Without it, these are the text's tokens.
//   unit        constexpr DataUnit says what a prediction is of, and which figures its loss gives.
//               Without it, this is token_unit if there is a vocabulary, else row_unit.
//   takes_tokenizer  constexpr bool; if true, open() reads text through the tokenizer that
//               DataRequest::tokenizer names, which is --tokenizer's, or its own if that is empty.
//   paths_help  constexpr std::string_view says for --help what --data takes, in sentences, on
//               lines of up to 64 characters.
//   has_examples  constexpr bool says that open() heeds Training::batching. Where it is not true, a
//               recipe with a policy of the slot batching does not compile.
// A policy with options may take them with the values that they have when the binary runs, those
// of flags included: open(const Options&, const DataRequest&), tokenizer(const Options&),
// prompt(const Options&, const Tokenizer&, std::string_view). A member
// that has one of these names but another signature is a compile error.
//
// What open() promises:
//   mistakes    A user's mistake gives a FileError or an ArgumentError that names the file, the
//               line or byte in it, what was expected, and what to do.
//   time        All that can go wrong goes wrong in open(), before a run's folder is made.
//   lifetime    The sources own what they look into (AnySource's second argument), or copy it.
//   training    The source gives batches as request.training asks: in its order, from its seed, as
//               large as `shapes` says. It never ends, unless the run is to end with it. Its
//               SamplerState has a hash of the data, and an order whose name begins with "shuffled"
//               or "sequential", as was asked for; a resumed run learns its order from there.
//   evaluation  The source is finite and gives batches of at most evaluation_sequences sequences.
// Batches have the ids and values that the model's trace asks for, in the same order (HostBatch).
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sinter/data/any_source.hpp"
#include "sinter/data/batching.hpp"
#include "sinter/data/prompt.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"
#include "sinter/data/unit.hpp"

namespace sinter {

/// Says what a verb asks a data policy to open.
struct DataRequest {
  /// How training takes the data.
  struct Training {
    Order order = Order::shuffled;  ///< in which items are taken
    double held_out = 0;     ///< the share, in [0, 1), to keep from training and to evaluate on
    std::uint64_t seed = 0;  ///< of the shuffle
    int sequences = 1;       ///< of a global batch
    BatchShapes shapes{};    ///< empty unless the recipe changes the size of its batches
    int least = 1;           ///< sequences of a global batch at least: one for each rank
    Batching batching{};     ///< how examples become batches; it means nothing for other data
  };

  std::vector<std::string> paths;      ///< what --data names, in that order; at least one
  int evaluation_sequences = 1;        ///< the most that a batch of the evaluation may have
  std::optional<Training> training{};  ///< without it nothing trains, and all data are evaluated
  /// What cannot be read below a folder is left out, and named in OpenedData::notes; else it is an
  /// error.
  bool skip_unreadable = false;
  std::string
      tokenizer{};  ///< the path of a tokenizer's files, as load_tokenizer takes it; or none
  /// Is called now and then while the data are made ready for what may take long, such as the
  /// making of a token file: with the bytes that are done, and those of all files. May be empty.
  std::function<void(std::int64_t done, std::int64_t all)> progress{};
};

/// What open() returns.
struct OpenedData {
  /// What was read, for the header of a run: "1,000 rows in 2 files, the last 100 held out …".
  std::string text{};
  std::optional<AnySource> training{};    ///< present if the request asks for it
  std::optional<AnySource> evaluation{};  ///< of all data, or of those held out; absent if none are
  std::int64_t evaluation_size = 0;       ///< data units in the evaluation; tells how long it takes
  /// The share of the evaluation's data units that are predicted, as an objective chooses it.
  double predicted = 1;
  /// The special tokens among those of the data; it may be left out where there are none.
  std::function<std::vector<SpecialToken>()> special{};
  /// What the user should be told of what was read, such as what was left out; one sentence a line.
  std::string notes{};
  /// Says what has changed of the files since they were read, in a sentence; empty if nothing has.
  /// It may be left out, and is called now and then while training goes on.
  std::function<std::string()> changed{};
};

/// A data policy without its type.
struct DataView {
  DataUnit unit{};                ///< what a prediction is of
  std::string_view paths_help{};  ///< what --data takes; empty if the policy does not say
  std::function<OpenedData(const DataRequest&)> open{};  ///< empty if the policy has no open()
  std::function<Tokenizer()> tokenizer{};                ///< empty if it has no tokenizer()
  /// Empty if it has no prompt().
  std::function<Prompt(const Tokenizer&, std::string_view text)> prompt{};
  bool takes_tokenizer = false;  ///< whether open() reads text through a tokenizer that is named
  /// What the recipe's batching policy says for global batches of so many sequences at most; empty
  /// if there is none.
  std::function<Batching(int sequences)> batching{};
};

}  // namespace sinter
