// Must not compile: Checkpoint: every is below 1
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Checkpoint<{.every = 0}>> {};
constexpr bool checked = ready<mine>();
