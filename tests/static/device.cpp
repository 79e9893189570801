// SPDX-License-Identifier: Apache-2.0
// A recipe for a card is planned and verified as the same recipe for the CPU.
#include "sinter/device/cuda.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;
using namespace sinter::detail;

namespace {

template <class... More>
struct Small : Recipe<Gpt2<{.layers = 2, .heads = 2, .width = 64}>, Bf16, More...> {};
struct here : Small<> {};
struct on_a_card : Small<Cuda<>> {};

static_assert(ready<here>() && ready<on_a_card>());
static_assert(here::device::on_host && !on_a_card::device::on_host);
static_assert(Plan<here>::bytes == Plan<on_a_card>::bytes);
static_assert(Plan<here>::program.size() == Plan<on_a_card>::program.size());
static_assert(std::is_same_v<SettingOf<here>, Bf16>);
static_assert(std::is_same_v<TensorFor<SettingOf<here>, float>, kernel::Tensor<float>>);
static_assert(std::is_same_v<TensorFor<SettingOf<on_a_card>, float>, DeviceTensor<float>>);
static_assert(sizeof(DeviceTensor<float>) == sizeof(kernel::Tensor<float>));
static_assert(!is_decisive<slot::device>());

}  // namespace
