// SPDX-License-Identifier: Apache-2.0
// A program's own names beside all of Sinter's and the standard library's: none becomes ambiguous.
#include <sinter/sinter.hpp>

int input = 1, output = 2, axes = 3, page = 4, load = 5, step = 6, matrix = 7, tensor = 8,
    linear = 9;
int view = 10, model = 11, batch = 12, layer = 13, device = 14, memory = 15, plan = 16;
struct Policy {
  int value = 17;
};

using namespace sinter;
using namespace std;

int sum() {
  const Policy policy;
  return input + output + axes + page + load + step + matrix + tensor + linear + view + model +
         batch + layer + device + memory + plan + policy.value;
}

// Sinter's own names are there as well.
struct small : Recipe<Mlp<{.in = 1, .hidden = 8, .out = 1}>, AdamW<{.lr = 1e-2}>,
                      Batch<{.global = 4, .micro = 4}>> {};
static_assert(ready<small>());
