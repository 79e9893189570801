// SPDX-License-Identifier: Apache-2.0
// What options of policies may be: every option of every shipped policy is in its list, every number
// has bounds, what torch, transformers and bitsandbytes refuse is refused, and what they take at the
// bounds is taken.
#include <limits>

#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::detail;

// ---- every option is listed, and has bounds if it is a number
struct Anything {
  template <class T>
  constexpr operator T() const;
};
/// How many fields an aggregate has.
template <class S, class... Given>
constexpr std::size_t size_of_aggregate() {
  if constexpr (requires { S{Given{}..., Anything{}}; }) {
    return size_of_aggregate<S, Given..., Anything>();
  } else {
    return sizeof...(Given);
  }
}
struct Three {
  int a = 1;
  double b = 2;
  bool c = false;
  SINTER_FIELDS((a).above(-1), (c))
};
static_assert(size_of_aggregate<Three>() == 3 && fields_of<Three>.size() == 2);
static_assert(fields_of<Three>[0].name == "a" && fields_of<Three>[1].name == "c");
static_assert(boost::hana::Struct<Three>::value);

template <class S>
constexpr bool lists_all = size_of_aggregate<S>() == fields_of<S>.size();
/// Whether all numbers, and nothing else, have a range.
template <class S>
constexpr bool ranges_are_of_numbers() {
  bool all = true;
  std::size_t k = 0;
  boost::hana::for_each(boost::hana::accessors<S>(), [&](auto field) {
    using Value = std::decay_t<decltype(boost::hana::second(field)(std::declval<const S&>()))>;
    all &= is_number<ValueIn<Value>> == fields_of<S>[k++].range.bounded();
  });
  return all;
}
template <class P>
constexpr bool has_all_ranges() {
  if constexpr (HasOptions<P>) {
    using Options = std::remove_const_t<decltype(P::options)>;
    if constexpr (size_of_aggregate<Options>() > 0)
      return lists_all<Options> && ranges_are_of_numbers<Options>() && !option_mistakes<P>.any();
  }
  return true;
}
template <class... Policies>
constexpr bool have_all_ranges(PolicyList<Policies...>) {
  return (has_all_ranges<Policies>() && ...);
}
static_assert(have_all_ranges(shipped::all{}));
static_assert(!lists_all<Three> && lists_all<LossScale> && lists_all<PlateauState>);

// ---- what is refused: the option, or what contradicts
template <class P>
constexpr bool refuses(std::string_view option) {
  const auto& mistakes = option_mistakes<P>;
  return mistakes.outside >= 0 && fields_of<typename P::Options>[mistakes.outside].name == option;
}
template <class P>
constexpr bool contradicts = bool(option_mistakes<P>.contradiction);
template <class P>
constexpr bool fine = !option_mistakes<P>.any();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

static_assert(refuses<DialoguePairs<{.text = 1}>>("text"));
static_assert(refuses<DialoguePairs<{.start = -2}>>("start"));
static_assert(refuses<AdamW<{.lr = -1}>>("lr") && fine<AdamW<{.lr = 0}>>);
static_assert(refuses<AdamW<{.lr = not_a_number}>>("lr") && refuses<AdamW<{.lr = infinity}>>("lr"));
static_assert(refuses<AdamW<{.beta1 = 1}>>("beta1") && refuses<AdamW<{.beta1 = -.1}>>("beta1"));
static_assert(refuses<Adam<{.beta2 = 1}>>("beta2") && fine<Adam<{.beta1 = 0, .beta2 = 0}>>);
static_assert(refuses<AdamW<{.eps = 0}>>("eps") && refuses<AdamW8bit<{.eps = -1}>>("eps"));
static_assert(refuses<Adam<{.weight_decay = -1}>>("weight_decay"));
static_assert(refuses<Lion<{.beta2 = 1}>>("beta2") && refuses<Lion<{.lr = -1}>>("lr"));
static_assert(refuses<Sgd<{.lr = -1}>>("lr") && refuses<Sgd<{.momentum = -.1}>>("momentum"));
static_assert(refuses<Sgd<{.momentum = 1}>>("momentum") && fine<Sgd<{.lr = 0, .momentum = 0}>>);
static_assert(refuses<Muon<{.iterations = 0}>>("iterations"));
static_assert(refuses<Muon<{.lr = -1}>>("lr") && fine<Muon<{.lr = 0}>>);
static_assert(refuses<Adafactor<{.clip_threshold = 0}>>("clip_threshold"));
static_assert(refuses<Adafactor<{.decay = 0}>>("decay"));
static_assert(refuses<Adafactor<{.eps_square = 0}>>("eps_square"));
static_assert(refuses<ClipNorm<{.max = 0}>>("max") && refuses<ClipValue<{.limit = 0}>>("limit"));
static_assert(refuses<Fp16<{.initial_scale = 0}>>("initial_scale"));
static_assert(refuses<Fp16<{.growth_interval = 0}>>("growth_interval"));
static_assert(refuses<Fp16<{.minimum_scale = 0}>>("minimum_scale"));
static_assert(contradicts<Fp16<{.initial_scale = 1, .minimum_scale = 2}>>);
static_assert(refuses<Average<{.decay = 1}>>("decay") && fine<Average<{.decay = 0}>>);
static_assert(refuses<CosineDecay<{.floor = 1.1}>>("floor") && fine<CosineDecay<{.floor = 1}>>);
static_assert(refuses<CosineDecay<{.warmup = -1}>>("warmup"));
static_assert(refuses<LinearDecay<{.steps = -1}>>("steps") && fine<LinearDecay<{.warmup = 9}>>);
static_assert(refuses<PolynomialDecay<{.power = -1}>>("power"));
static_assert(refuses<InverseSqrt<{.timescale = -1}>>("timescale"));
static_assert(refuses<CosineRestarts<{.cycle = 0}>>("cycle"));
static_assert(refuses<CosineRestarts<{.growth = .9}>>("growth"));
static_assert(refuses<Plateau<{.factor = 1}>>("factor") &&
              refuses<Plateau<{.factor = 0}>>("factor"));
static_assert(refuses<Plateau<{.patience = -1}>>("patience"));
static_assert(refuses<ScaledRate<{.base = 0}>>("base") && refuses<Batch<{.micro = 0}>>("micro"));
static_assert(refuses<BatchWarmup<{.sequences = (1LL << 32) + 1}>>("sequences"));
static_assert(fine<BatchWarmup<{.sequences = 1LL << 32}>>);
static_assert(refuses<SkipSteps<{.most = 0}>>("most") && refuses<RollBack<{.most = 0}>>("most"));
static_assert(refuses<RollBack<{.factor = 0}>>("factor") &&
              refuses<RollBack<{.skips = -1}>>("skips"));
static_assert(contradicts<RollBack<{.factor = 1, .skip_batches = false}>>);
static_assert(fine<RollBack<{.factor = 1}>> && fine<RollBack<{.skip_batches = false}>>);
static_assert(refuses<SpikeGuard<{.sigma = 0}>>("sigma") &&
              refuses<SpikeGuard<{.warmup = 1}>>("warmup"));
static_assert(refuses<SpikeGuard<{.window = 1}>>("window"));
static_assert(refuses<Generation<{.rows = 0}>>("rows") && fine<Generation<{.context = 0}>>);
static_assert(refuses<Generation<{.context = -1}>>("context"));
static_assert(refuses<Sample<{.top_p = 0}>>("top_p") && fine<Sample<{.top_p = 1}>>);
static_assert(refuses<Sample<{.tokens = 0}>>("tokens") && fine<Sample<>>);
static_assert(refuses<Sample<{.temperature = -1}>>("temperature"));
static_assert(refuses<Gpt2<{.layers = 0}>>("layers") && refuses<Mlp<{.hidden = 0}>>("hidden"));

static_assert(contradicts<LinearDecay<{.warmup = 100, .steps = 20}>>);
static_assert(contradicts<CosineDecay<{.warmup = 21, .steps = 20}>>);
static_assert(contradicts<PolynomialDecay<{.warmup = 1001, .steps = 1000}>>);
static_assert(fine<CosineDecay<{.warmup = 20, .steps = 20}>>);
static_assert(contradicts<WarmupStableDecay<{.steps = 99}>>);
static_assert(fine<WarmupStableDecay<{.warmup = 9, .steps = 100, .decay = 91}>>);

static_assert(contradicts<Sample<{.temperature = 0, .top_p = .9}>>);
static_assert(contradicts<Sample<{.tokens = 3, .min_tokens = 4}>>);
static_assert(contradicts<Sample<{.temperature = 0, .results = 2}>>);
static_assert(contradicts<Sample<{.beams = 2, .results = 3}>>);
static_assert(contradicts<Sample<{.early_stopping = BeamStopping::yes}>>);
static_assert(
    contradicts<Sample<{.beams = 2, .length_penalty = LengthPenalty::none, .length_exponent = 2}>>);
static_assert(fine<Sample<{.temperature = 0, .top_k = 1}>> && fine<Sample<{.results = 3}>>);
static_assert(fine<Sample<{.min_tokens = 4}>> && fine<Sample<{.beams = 3, .results = 3}>>);

// ---- as recipes are chosen, without a word
template <class... Policies>
struct Mine : Recipe<Mlp<>, Policies...> {};
template <class R>
constexpr bool legal = R::template may_exist<R>();
static_assert(legal<Mine<>> && legal<Mine<Batch<{.global = 4, .micro = 2}>>>);
static_assert(!legal<Mine<Batch<{.global = 4, .micro = 0}>>> && !legal<Mine<AdamW<{.lr = -1}>>>);
static_assert(!legal<Mine<LinearDecay<{.warmup = 100, .steps = 20}>>>);

// ---- what a range says
constexpr bool says(Range range, std::string_view words) { return range.text().view() == words; }
static_assert(says(Range(), "") && says(Range().below(-2), "below -2"));
static_assert(says(Range().at_least(1).at_most(1LL << 32), "at least 1 and at most 4294967296"));
static_assert(Range().holds(-1e300) && !Range().holds(infinity) && !Range().holds(not_a_number));
static_assert(Adafactor<>::why_fixed("lr").empty());
static_assert(!Adafactor<{.relative_step = true}>::why_fixed("lr").empty());
