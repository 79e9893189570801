// Must not compile: BatchWarmup: the ramp does not fit the micro-batches that Budget chose.
#include "sinter/batch/batch_warmup.hpp"
#include "sinter/memory/budget.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/plan.hpp"
using namespace sinter;

template <int Micro>
struct accumulates : Recipe<Mlp<>, Batch<{.global = 12, .micro = Micro}>> {};
using FourAtOnce = Budget<{.bytes = Plan<accumulates<4>>::bytes}>;
struct mine : Recipe<Mlp<>, Batch<{.global = 12, .micro = 6}>, FourAtOnce,
                     BatchWarmup<{.from = 6, .sequences = 100}>> {};
constexpr bool checked = ready<mine>();
