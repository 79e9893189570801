// Must not compile: Gpt2: vocabulary_multiple is below 1
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/plan.hpp"
using namespace sinter;

struct mine : Recipe<Gpt2<{.layers = 2, .vocabulary_multiple = 0}>, Bytes<>> {};
constexpr bool checked = ready<mine>();
