// Must not compile: Checkpoint: every is below 1, or above 1 with the selective policy
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Checkpoint<{.policy = selective, .every = 2}>> {};
constexpr bool checked = ready<mine>();
