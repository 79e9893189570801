// SPDX-License-Identifier: Apache-2.0
// Products in the order of the stream, in the device's memory, and in a graph.
#include "sinter/kernels/matmul.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "emulated/alike.hpp"
#include "hardware/cuda/queue.hpp"
#include "sinter/hardware/memory.hpp"
#include "sinter/kernels/elementwise.hpp"

using namespace sinter;
using namespace sinter::detail;
using namespace sinter::kernel;

namespace {

constexpr int m = 3, n = 5, k = 4;

/// Places in the device's memory, which the host cannot touch.
struct Places {
  DeviceMemory memory{4096};
  float* a = reinterpret_cast<float*>(memory.bytes().data());
  float *b = a + 64, *c = a + 128, *row = a + 192;

  std::vector<float> result(Stream& stream) {
    const OnHost values(stream, reinterpret_cast<std::byte*>(c), m * n * 4, Access::read);
    return {values.as<float>(), values.as<float>() + m * n};
  }
};

}  // namespace

TEST_CASE("a product reads and writes the device's memory, behind what came before it") {
  Stream stream(1);
  Places at;
  fill(stream, at.a, 2.f, m * k);
  fill(stream, at.b, 3.f, k * n);
  matmul(stream, Tensor(at.a, m, k), Tensor(at.b, k, n), Tensor(at.c, m, n));
  CHECK(at.result(stream) == std::vector<float>(m * n, 24));
  matmul(stream, Tensor(at.a, m, k), transposed(Tensor(at.b, n, k)), Tensor(at.c, m, n, true));
  CHECK(at.result(stream) == std::vector<float>(m * n, 48));
  fill(stream, at.row, 1.f, n);
  matmul_bias(stream, transposed(Tensor(at.a, k, m)), Tensor(at.b, k, n),
              Input<float>(at.row, 1, n), Tensor(at.c, m, n));
  CHECK(at.result(stream) == std::vector<float>(m * n, 25));
}

TEST_CASE("a product in a graph is computed in each run, with what is there by then") {
  Stream stream(1);
  Places at;
  fill(stream, at.b, 1.f, k * n);
  for (int run = 0; run < 3; ++run) {
    stream.as_graph(alike, [&] {
      fill(stream, at.a, float(run + 1), m * k);
      matmul(stream, Tensor(at.a, m, k), Tensor(at.b, k, n), Tensor(at.c, m, n));
      scale(stream, Tensor<const float>(at.c, m, n), 0.5f, Tensor(at.c, m, n));
    });
    CHECK(at.result(stream) == std::vector<float>(m * n, 2 * float(run + 1)));
  }
}
