// SPDX-License-Identifier: Apache-2.0
// What a data source is, and its state.
#pragma once
#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sinter/base/text.hpp"
#include "sinter/data/batch_shape.hpp"
#include "sinter/data/host_batch.hpp"

namespace sinter {

/// The state of a data source: all that is needed to continue at once with exactly the batch that
/// would have come next, without reading earlier ones.
///
/// An item is what the source draws: a window of tokens, a row of an array. Positions count items,
/// so that a run may continue with another batch size. A source that changes how it draws from
/// (seed, epoch) must change the name of its order, so that an old state is refused, not misread.
struct SamplerState {
  std::string order{};          ///< the source's name for its order: "shuffled", "sequential" …
  std::uint64_t seed = 0;       ///< seed of the shuffle
  std::uint64_t epoch = 0;      ///< complete passes over the data
  std::uint64_t position = 0;   ///< items of this epoch that have been given
  std::uint64_t items = 0;      ///< items that have been given since the first epoch began
  std::uint64_t context = 0;    ///< tokens that a window predicts; 0 if items are not windows
  std::uint64_t data_size = 0;  ///< size of all the data, in data units (tokens, rows)
  std::uint64_t data_hash = 0;  ///< hash of the data's content
  std::uint64_t end = 0;        ///< items after which the source ends; 0: never, or after its data

  bool operator==(const SamplerState&) const = default;

  /// Returns each field as text under its name, for a checkpoint's manifest. Numbers are text
  /// because JSON's numbers are too short for 64 bits; the hash is hexadecimal.
  std::map<std::string, std::string> to_fields() const;

  /// The reverse of to_fields(). `items` and `end` may be missing, as in files of older versions;
  /// they are then 0.
  /// throws    ArgumentError that names every field that is missing, unknown or not a number
  static SamplerState from_fields(const std::map<std::string, std::string>& fields);
};

/// Checks that `saved` was taken from the same data as `own`, cut and ordered in the same way.
/// Seed, epoch and position may differ, since a restore sets them.
/// throws    ArgumentError with both values of the first difference
void require_same_data(const SamplerState& saved, const SamplerState& own);

/// Checks that the position of `saved` is at most `last`. Messages use the names `item`, such as
/// "row", and `data`, such as "these arrays".
/// throws    ArgumentError with the position and `last`
void require_position(const SamplerState& saved, std::int64_t last, std::string_view item,
                      std::string_view data);

/// Returns how many of the next `items` items come before the state's end: all if it has none.
int items_before_the_end(const SamplerState& state, int items);

/// The order in which training takes its items.
enum class Order { shuffled, sequential };

/// What a batch is to hold, in numbers that only the source that draws them interprets.
struct BatchDraw {
  std::vector<std::int64_t> items;  ///< the batch's items, in order
  std::vector<std::uint64_t> keys;  ///< keys of the items, as in HostBatch
  int length = 0;                   ///< maximum rows of a sequence
  /// The part of the batch whose content is needed. The caller sets it between draw() and fill();
  /// draw() need not set it.
  BatchPart part{};
};

/// Where a source is to end that would go on for ever. One of the numbers is 0.
struct SourceEnd {
  std::uint64_t epochs = 0;  ///< epochs since the first began
  std::uint64_t items = 0;   ///< items since the first epoch began
};

namespace detail {
template <class T>
concept VoidOrBool = std::same_as<T, void> || std::same_as<T, bool>;
}  // namespace detail

/// Gives batches, one after the other.
///   next(batch)     overwrites `batch`, whose memory it reuses, with the next global batch. It
///                   returns false, and leaves an empty batch, when there are no more; a source
///                   that never ends may return void.
///   state()         returns the source's state after the batch that next() gave last.
///   restore(state)  continues from that state. It throws ArgumentError, and changes nothing, if
///                   the state belongs to other data.
/// requires  one thread at a time uses a source
/// ensures   after restore(s) the batches are, byte for byte, those that followed when state() was
///           s; nothing depends on threads, machine or the time of day
template <class S>
concept DataSource =
    requires(S& source, const S& constant, HostBatch& batch, const SamplerState& state) {
      { source.next(batch) } -> detail::VoidOrBool;
      { constant.state() } -> std::convertible_to<SamplerState>;
      source.restore(state);
    };

/// A source that splits next() in two, so that several threads can prepare its batches, and each of
/// several processes can make only its part:
///   draw(draw)         overwrites `draw` with what the next batch is to hold, and advances state()
///                      as next() does. It should be quick. It returns false at the end.
///   fill(draw, batch)  makes that batch, and changes nothing in the source. Several threads may
///                      call it at once, also during draw(). It may leave out the content of all
///                      sequences outside draw.part; it then sets batch.part to draw.part
///                      (HostBatch describes such a batch). If it makes the whole batch, it leaves
///                      batch.part unchanged.
/// ensures   next(batch) is draw(draw), and fill(draw, batch) unless that was the end
template <class S>
concept DividedSource =
    DataSource<S> && requires(S& source, const S& constant, HostBatch& batch, BatchDraw& draw) {
      { source.draw(draw) } -> std::same_as<bool>;
      constant.fill(draw, batch);
    };

/// A source for training that can be told where to end.
///   end_at(end)  sets SamplerState::end: the batch that reaches it holds only the items before it,
///                and none follows. Between epochs batches are as without an end. It returns a
///                sentence on the data that an epoch leaves out, or nothing.
/// throws    ArgumentError if it cannot end exactly there
template <class S>
concept EndingSource = DataSource<S> && requires(S& source, SourceEnd end) {
  { source.end_at(end) } -> std::same_as<std::string>;
};

namespace detail {
/// A source that never ends by itself, so that nothing can be done with all of it.
template <class S>
concept NeverEnds = requires(S& source, HostBatch& batch) {
  requires std::is_void_v<decltype(source.next(batch))>;
} || requires { requires S::never_ends; };

template <class Source>
auto a_source_to_evaluate_never_ends() {
  static_assert(
      sizeof(Source) == 0,
      "Sinter: a source to evaluate on never ends. What: it is Source, in this error. Why: "
      "an evaluation is over all of its source, so it would last for ever. Fix: of arrays, "
      "take EvaluationArrays, which gives each row once; else a source whose next() "
      "returns false at its end, such as EvaluationWindows or EvaluationExamples.");
}
/// True if S can be evaluated on. If not, also makes one compile error.
template <class S>
[[nodiscard]] constexpr bool can_be_evaluated() {
  if constexpr (NeverEnds<S>) (void)&a_source_to_evaluate_never_ends<S>;
  return !NeverEnds<S>;
}

template <class Source, Text Member, Text Expected>
auto a_data_source_lacks_a_member() {
  static_assert(sizeof(Source) == 0,
                "Sinter: a data source lacks a member, or has it with other arguments. What: "
                "Source, the Member and what is Expected of it are in this error. Why: training "
                "reads batches ahead, and a resumed run goes on where the source says that it "
                "stood. Fix: write the member; see DataSource in sinter/data/source.hpp.");
}

/// True if S is a data source. If not, one compile error names the missing member.
template <class S>
[[nodiscard]] constexpr bool is_data_source() {
  if constexpr (!requires(S& s, HostBatch& batch) {
                  { s.next(batch) } -> VoidOrBool;
                }) {
    (void)&a_data_source_lacks_a_member<S, Text("next"), Text("bool or void next(HostBatch&)")>;
  } else if constexpr (!requires(const S& s) {
                         { s.state() } -> std::convertible_to<SamplerState>;
                       }) {
    (void)&a_data_source_lacks_a_member<S, Text("state"), Text("SamplerState state() const")>;
  } else if constexpr (!requires(S& s, const SamplerState& state) { s.restore(state); }) {
    (void)&a_data_source_lacks_a_member<S, Text("restore"), Text("restore(const SamplerState&)")>;
  }
  return DataSource<S>;
}

/// Calls next() of any source. Returns false if the source has ended.
template <DataSource S>
[[nodiscard]] bool pull(S& source, HostBatch& batch) {
  if constexpr (std::is_void_v<decltype(source.next(batch))>) {
    source.next(batch);
    return true;
  } else {
    return source.next(batch);
  }
}

/// True if several threads can prepare the batches of a source.
template <DataSource S>
[[nodiscard]] bool divides(const S& source) {
  if constexpr (requires {
                  { source.divides() } -> std::same_as<bool>;
                })
    return source.divides();
  else
    return DividedSource<S>;
}

/// Makes a batch that was drawn, or only the part of it that is needed.
template <DividedSource S>
void fill_part(const S& source, BatchDraw& draw, HostBatch& batch, BatchPart part) {
  draw.part = part;
  batch.part = {};  // the batch may have held a part before
  batch.predictions.reset();
  source.fill(draw, batch);
}

/// pull() for a caller that needs only a part of the batch. A source that does not divide is read
/// completely, and fill() may make more than the part. `draw` is working memory. After an exception
/// of fill() the source's state is that after the batch.
template <DataSource S>
[[nodiscard]] bool pull(S& source, HostBatch& batch, BatchDraw& draw, BatchPart part) {
  if constexpr (DividedSource<S>)
    if (!part.is_whole() && divides(source)) {
      if (!source.draw(draw)) return batch.clear(), false;
      return fill_part(source, draw, batch, part), true;
    }
  batch.part = {};
  batch.predictions.reset();
  return pull(source, batch);
}
}  // namespace detail

}  // namespace sinter
