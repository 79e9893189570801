// SPDX-License-Identifier: Apache-2.0
// What a data policy offers to the verbs of a binary.
//
// A data policy states how long its sequences are and which ids there may be (DataPolicy in
// policy/concepts.hpp). That is enough for a program that feeds a trainer itself. For the binary to
// read data, too, a policy has static members, all of them optional:
//   open        OpenedData open(const DataRequest&) reads what --data names. With it, `train` and
//               `eval` work, with all of their flags.
//   tokenizer   Tokenizer tokenizer() turns text into tokens and back. With it, `generate` works.
//   prompt      Prompt prompt(const Tokenizer&, std::string_view text) returns what `generate`
//               shows to the model for the text of --prompt. The default is Tokenizer::before and
//               the text's tokens.
//   unit        constexpr DataUnit defines what a prediction is of, and the figures of its loss.
//               The default is token_unit if there is a vocabulary, else row_unit.
//   takes_tokenizer  constexpr bool; if true, open() reads text through the tokenizer that
//               DataRequest::tokenizer names (from --tokenizer), or its own if that is empty.
//   reads_text  constexpr bool; true if open() reads plain text, and refuses files that are none
//               unless DataRequest::as_text is set. Else --as-text is an error.
//   class_names constexpr std::string_view names the classes that are learnt, with commas between;
//               predict prints these names.
//   paths_help  constexpr std::string_view is --help's text on what --data takes, in sentences, on
//               lines of up to 64 characters.
//   has_examples  constexpr bool; true if open() uses Training::batching. Else a recipe
//               with a policy of the slot batching does not compile.
//   has_replies   constexpr bool; true if the source of the evaluation says what replies of its
//               examples are (AnySource::replies()). Else a recipe with Evaluate does not compile.
// A policy with options may take their values when the binary runs, with flags applied: open(const
// Options&, const DataRequest&), tokenizer(const Options&), prompt(const Options&, const
// Tokenizer&, std::string_view). A member that has one of these names but another signature is a
// compile error. What open() promises:
//   mistakes    A user's mistake gives a FileError or an ArgumentError that names the file, the
//               line or byte in it, what was expected, and what to do.
//   time        All that can go wrong goes wrong in open(), before a run's folder is made.
//   lifetime    The sources own the data that they view (AnySource's second argument), or copy it.
//   training    The source gives batches as request.training asks: in its order, from its seed,
//               with its `shapes`. It never ends, unless the run is to end with it. Its
//               SamplerState has a hash of the data, and an order whose name begins with "shuffled"
//               or "sequential", as was asked for; a resumed run takes its order from that name.
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

/// What a verb asks a data policy to open.
struct DataRequest {
  /// How training takes the data.
  struct Training {
    Order order = Order::shuffled;  ///< order of the items
    double held_out = 0;     ///< the share, in [0, 1), to keep from training and to evaluate on
    std::uint64_t seed = 0;  ///< seed of the shuffle
    int sequences = 1;       ///< sequences of a global batch
    detail::BatchShapes shapes{};  ///< empty unless the recipe changes the size of its batches
    int least = 1;                 ///< minimum sequences of a global batch: one for each rank
    Batching batching{};           ///< how examples become batches; ignored for other data
  };

  std::vector<std::string> paths;      ///< paths that --data names, in that order; at least one
  int evaluation_sequences = 1;        ///< maximum sequences of an evaluation batch
  std::optional<Training> training{};  ///< if unset, nothing trains, and all data are evaluated
  /// True if unreadable paths below a folder are left out, and named in OpenedData::notes; else
  /// they are an error.
  bool skip_unreadable = false;
  /// True if files that are named as text are read as text whatever they look like; else archives
  /// and tables among them are an error.
  bool as_text = false;
  std::string tokenizer{};  ///< path of a tokenizer's files, as load_tokenizer() takes it, or empty
  /// True if a plain text gets the special tokens that the tokenizer's files put around it
  /// (Tokenizer::before, behind). Runs begun before there were any go on without.
  bool special_tokens = true;
  /// Called now and then during slow preparation of data, such as making a token file, with the
  /// bytes done and the bytes of all files. May be empty.
  std::function<void(std::int64_t done, std::int64_t all)> progress{};
};

/// What open() returns.
struct OpenedData {
  /// Summary of the data for the header of a run: "1,000 rows in 2 files, the last 100 held out …".
  std::string text{};
  std::optional<AnySource> training{};    ///< present if the request asks for it
  std::optional<AnySource> evaluation{};  ///< all data, or the held-out data; absent if none are
  std::int64_t evaluation_size = 0;  ///< data units in the evaluation, for estimates of its time
  /// The share of the evaluation's data units that are predicted, as chosen by an objective.
  double predicted = 1;
  /// Returns the special tokens of the data; may be empty if there are none.
  std::function<std::vector<SpecialToken>()> special{};
  /// Messages for the user about the data, such as what was left out; one sentence per line.
  std::string notes{};
  /// Returns a sentence on what has changed in the files since they were read; empty if nothing
  /// has. May be empty, and is called now and then during training.
  std::function<std::string()> changed{};
};

/// What a data policy offers to the verbs of a binary.
struct DataFacts {
  DataUnit unit{};                 ///< what a prediction is of
  std::string_view paths_help{};   ///< what --data takes; empty if the policy has no help
  bool opens = false;              ///< true if the policy has open()
  bool has_tokenizer = false;      ///< true if it has tokenizer()
  bool takes_tokenizer = false;    ///< true if open() reads text through a tokenizer that is named
  bool reads_text = false;         ///< true if open() obeys DataRequest::as_text
  std::string_view class_names{};  ///< of the classes that it has, with commas between; or empty
};

}  // namespace sinter
