// Must not compile: Mlp: layers is below 2
#include "sinter/model/mlp.hpp"
#include "sinter/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<{.layers = 1}>> {};
constexpr bool checked = ready<mine>();
