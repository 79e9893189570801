// SPDX-License-Identifier: Apache-2.0
// The hooks of single slots: optional members beside those that the concept of the slot requires
// (concepts.hpp). Elsewhere members of these names have no meaning.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sinter/hardware/stream.hpp"
#include "sinter/policy/hooks.hpp"

namespace sinter {

struct DataRequest;  // data/data_view.hpp
struct DataUnit;     // data/unit.hpp
struct OpenedData;
struct Prompt;
struct Tokenizer;  // data/tokenizer/tokenizer.hpp

namespace detail {
namespace hook {

// ---- optimizer

/// `casts` is true if update() also writes the copy of the weights that layers read.
SINTER_VALUE_HOOK(bool, casts, false);
/// `by_parameter` is true if update() takes parameters one by one, each whole.
SINTER_VALUE_HOOK(bool, by_parameter, false);
template <class P>
concept HasWorkspace = requires(const Layer& layer, int parameter) {
  { P::workspace(layer, parameter) } -> std::convertible_to<std::int64_t>;
};
/// workspace(layer, number) returns the bytes that an update of this parameter needs.
SINTER_HOOK(workspace, HasWorkspace<P>,
            "static constexpr std::int64_t workspace(const detail::Layer&, int number)");
/// The rate of the optimizer P at a step, from 1, before the schedule.
template <class P>
double learning_rate(const typename P::Options& options, std::int64_t step) {
  if constexpr (requires { P::learning_rate(options, step); }) {
    return P::learning_rate(options, step);
  } else {
    return P::learning_rate(options);
  }
}

// ---- schedule

/// The factor of the learning rate by the schedule P.
template <class P>
double factor(const auto& options, const auto& state, std::int64_t step) {
  if constexpr (HasState<P>) {
    return P::factor(options, state, step);
  } else {
    return P::factor(options, step);
  }
}

template <class P>
concept HasHorizon = requires(typename P::Options& options) {
  { P::horizon(options) } -> std::same_as<std::int64_t&>;
};
/// horizon(options) returns the option that is the last step of the schedule. Where that option is
/// 0, factor() gets the run's length in its place.
SINTER_HOOK(horizon, HasHorizon<P>, "static constexpr std::int64_t& horizon(Options&)");
/// The options of the schedule P in a run of `steps` steps, 0 if that is unknown.
template <class P>
auto in_run(auto options, [[maybe_unused]] std::int64_t steps) {
  if constexpr (HasHorizon<P>)
    if (std::int64_t& last = P::horizon(options); last == 0) last = steps;
  return options;
}
/// The horizon that options of the schedule P state: 0 for the run's length; none without the hook.
template <class P>
std::optional<std::int64_t> stated_horizon([[maybe_unused]] auto options) {
  if constexpr (HasHorizon<P>) return P::horizon(options);
  return std::nullopt;
}

// ---- clipping

template <class P>
concept HasLimit = requires(const typename P::Options& options) {
  { P::limit(options) } -> std::convertible_to<double>;
};
/// limit(options) returns the maximum magnitude of each gradient after the scaling by the norm,
/// above 0.
SINTER_HOOK(limit, HasLimit<P>, "static double limit(const Options&)");
/// That magnitude by the policy P; infinity without a limit.
template <class P>
double limit(const typename P::Options& options) {
  if constexpr (HasLimit<P>) return P::limit(options);
  return std::numeric_limits<double>::infinity();
}

// ---- memory

template <class P>
concept KeepsWhole = requires(int copy) {
  { P::keeps_whole(copy) } -> std::convertible_to<bool>;
};
/// keeps_whole(copy) returns true if this copy of a repeated unit, counted from 0, recomputes
/// nothing, whatever the other copies recompute.
SINTER_HOOK(keeps_whole, KeepsWhole<P>, "static constexpr bool keeps_whole(int copy)");
template <class P>
inline constexpr std::optional<bool (*)(int)> keeps_whole{};
template <KeepsWhole P>
inline constexpr std::optional<bool (*)(int)> keeps_whole<P>{P::keeps_whole};

// ---- parallel

/// `shards` is the number of ranks over which the optimizer's state is sharded, and masters if
/// layers read a copy (Model::shards). ranks() then returns it for all options.
SINTER_VALUE_HOOK(int, shards, 1);
/// `splits_gradients` is true if gradients are sharded, too. In each micro-batch its rewrite() adds
/// the sums over the ranks of what backward computes (Model::gradients).
SINTER_VALUE_HOOK(bool, splits_gradients, false);
/// `splits_weights` is true if the weights that layers read are sharded, too. Its rewrite() and
/// rewrite_forward() fetch a unit's weights before they are read (Model::fetches_weights).
SINTER_VALUE_HOOK(bool, splits_weights, false);
/// `at_root` is true if only one rank updates (Model::at_root).
SINTER_VALUE_HOOK(bool, at_root, false);
/// `owners` is true if its instructions support shards that are whole parameters, each of one rank,
/// for optimizers that take parameters whole (Model::owned).
SINTER_VALUE_HOOK(bool, owners, false);

// ---- precision

template <class P>
concept HasStateType = requires { sizeof(typename P::state); };
/// `state` is the type of the optimizer's state; that of masters by default.
SINTER_HOOK(state, HasStateType<P>, "using state = ..., a complete type");
/// `matmul_inputs` says what matmuls of layers do to fp32 inputs.
SINTER_VALUE_HOOK(kernel::MatmulInputs, matmul_inputs, kernel::MatmulInputs::whole);

// ---- data; data/data_view.hpp has the contracts. A function may take the Options before.

/// `second_context` is the maximum rows of a sequence on axis 1 (HostBatch::second_starts), by
/// default `context`.
SINTER_VALUE_HOOK(int, second_context, P::context);

template <class P>
concept HasOpen =
    std::same_as<decltype(P::open(std::declval<const DataRequest&>())), OpenedData> ||
    std::same_as<decltype(P::open(P::options, std::declval<const DataRequest&>())), OpenedData>;
/// open(request) reads what --data names.
SINTER_HOOK(open, HasOpen<P>,
            "static OpenedData open(const DataRequest&), which may take const Options& before");
/// The data that the policy P opens.
template <HasOpen P>
auto open(const auto& options, const DataRequest& request) {
  if constexpr (requires { P::open(request); }) {
    return P::open(request);
  } else {
    return P::open(options, request);
  }
}

template <class P>
concept HasTokenizer = std::same_as<decltype(P::tokenizer()), Tokenizer> ||
                       std::same_as<decltype(P::tokenizer(P::options)), Tokenizer>;
/// tokenizer() turns text into tokens and back.
SINTER_HOOK(tokenizer, HasTokenizer<P>,
            "static Tokenizer tokenizer(), which may take const Options&");
/// The tokenizer of the policy P.
template <HasTokenizer P>
auto tokenizer(const auto& options) {
  if constexpr (requires { P::tokenizer(); }) {
    return P::tokenizer();
  } else {
    return P::tokenizer(options);
  }
}

template <class P>
concept HasPrompt =
    std::same_as<decltype(P::prompt(std::declval<const Tokenizer&>(), std::string_view())),
                 Prompt> ||
    std::same_as<decltype(P::prompt(P::options, std::declval<const Tokenizer&>(),
                                    std::string_view())),
                 Prompt>;
/// prompt(tokenizer, text) returns what `generate` shows to the model for a text.
SINTER_HOOK(prompt, HasPrompt<P>,
            "static Prompt prompt(const Tokenizer&, std::string_view), which may take const "
            "Options& before");
/// The prompt of the policy P for a text.
template <HasPrompt P>
auto prompt(const auto& options, const Tokenizer& tokenizer, std::string_view text) {
  if constexpr (requires { P::prompt(tokenizer, text); }) {
    return P::prompt(tokenizer, text);
  } else {
    return P::prompt(options, tokenizer, text);
  }
}

template <class P>
concept HasUnit = std::same_as<decltype(P::unit), const DataUnit>;
/// `unit` is a DataUnit: what a prediction is of, and the figures of its loss.
SINTER_HOOK(unit, HasUnit<P>, "static constexpr DataUnit unit");
/// `paths_help` is the text of --help on what --data takes.
SINTER_VALUE_HOOK(std::string_view, paths_help, {});
/// `takes_tokenizer` is true if open() reads text through the tokenizer that is named.
SINTER_VALUE_HOOK(bool, takes_tokenizer, false);
/// `reads_text` is true if open() reads plain text and obeys DataRequest::as_text.
SINTER_VALUE_HOOK(bool, reads_text, false);
/// `class_names` are the names of the classes that labels stand for, with commas between.
SINTER_VALUE_HOOK(std::string_view, class_names, {});
/// `has_examples` is true if open() uses DataRequest::Training::batching.
SINTER_VALUE_HOOK(bool, has_examples, false);
/// `has_replies` is true if the examples of open()'s evaluation have replies (AnySource::replies()).
SINTER_VALUE_HOOK(bool, has_replies, false);

}  // namespace hook

/// The hooks that a policy may have, with those of its slot.
auto hooks_of(...) -> AllSlotsHooks;
auto hooks_of(std::type_identity<slot::optimizer>)
    -> AllSlotsHooks::With<hook::casts_hook, hook::by_parameter_hook, hook::workspace_hook>;
auto hooks_of(std::type_identity<slot::schedule>) -> AllSlotsHooks::With<hook::horizon_hook>;
auto hooks_of(std::type_identity<slot::clipping>) -> AllSlotsHooks::With<hook::limit_hook>;
auto hooks_of(std::type_identity<slot::memory>) -> AllSlotsHooks::With<hook::keeps_whole_hook>;
auto hooks_of(std::type_identity<slot::parallel>)
    -> AllSlotsHooks::With<hook::shards_hook, hook::splits_gradients_hook,
                           hook::splits_weights_hook, hook::at_root_hook, hook::owners_hook>;
auto hooks_of(std::type_identity<slot::precision>)
    -> AllSlotsHooks::With<hook::state_hook, hook::matmul_inputs_hook>;
auto hooks_of(std::type_identity<slot::data>)
    -> AllSlotsHooks::With<hook::open_hook, hook::tokenizer_hook, hook::prompt_hook,
                           hook::unit_hook, hook::paths_help_hook, hook::takes_tokenizer_hook,
                           hook::reads_text_hook, hook::class_names_hook, hook::has_examples_hook,
                           hook::has_replies_hook>;
template <class P>
using HooksFor = decltype(hooks_of(std::type_identity<typename P::slot>{}));

/// True if each member of the policy P of the recipe R that has the name of a hook has its form,
/// too; otherwise also makes one compile error.
template <class P, class R>
[[nodiscard]] constexpr bool hooks_fit() {
  using Hooks = HooksFor<P>;
  constexpr std::size_t wrong = first_wrong<P, R>(Hooks{});
  if constexpr (wrong < Hooks::size) (void)&Hooks::template At<wrong>::template has_another_form<P>;
  return wrong == Hooks::size;
}
}  // namespace detail

}  // namespace sinter
