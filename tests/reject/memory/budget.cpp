// Must not compile: Budget: nothing fits. What: the least that this recipe needs
#include "sinter/memory/budget.hpp"
#include "sinter/model/mlp.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Budget<{.bytes = 1000}>> {};
constexpr bool checked = ready<mine>();
