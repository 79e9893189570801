// Must not compile: Muon: this precision's master weights or gradients are not fp32
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/plan.hpp"
#include "sinter/precision/fp64.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Muon<>, Fp64> {};
constexpr bool checked = ready<mine>();
