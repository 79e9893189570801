// SPDX-License-Identifier: Apache-2.0
// How fast is each kernel beside ATen's counterpart, and beside what the machine could do at the
// matmul rate and the bandwidth that are measured first?
// With more than one thread, our pool and ATen's disturb each other in this one process. What such
// a run says of single kernels is no evidence; bench step, whose contestants are processes, is.
//   ./sinter bench kernels [--threads N] [--rounds N] [--only TEXT] [--json FILE] [--svg FILE]
#include <torch/torch.h>

#include <chrono>
#include <optional>
#include <thread>

#include "report.hpp"
#include "sinter/kernels/activation.hpp"
#include "sinter/kernels/adamw.hpp"
#include "sinter/kernels/attention.hpp"
#include "sinter/kernels/elementwise.hpp"
#include "sinter/kernels/embedding.hpp"
#include "sinter/kernels/loss.hpp"
#include "sinter/kernels/matmul.hpp"
#include "sinter/kernels/matmul_rate.hpp"
#include "sinter/kernels/normalize.hpp"
#include "sinter/kernels/swiglu.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace {

using at::Tensor;
using kernel::Stream;

double microseconds(const auto& work) {
  auto begin = std::chrono::steady_clock::now();
  work();
  auto passed = std::chrono::steady_clock::now() - begin;
  return std::chrono::duration<double, std::micro>(passed).count();
}
Tensor normal(std::initializer_list<std::int64_t> shape) { return torch::randn(shape); }
float* data(const Tensor& t) { return t.data_ptr<float>(); }
/// As kernels take it; a vector as one row, or as one column.
template <class T = float>
kernel::Tensor<T> view(const Tensor& t) {
  return {static_cast<T*>(t.data_ptr()), int(t.numel() / t.size(-1)), int(t.size(-1))};
}
template <class T = float>
kernel::Tensor<T> column(const Tensor& t) {
  return {static_cast<T*>(t.data_ptr()), int(t.numel()), 1};
}

/// The largest difference, relative to the largest number.
double difference(const Tensor& a, const Tensor& b) {
  Tensor x = a.flatten().to(torch::kDouble), y = b.flatten().to(torch::kDouble);
  return ((x - y).abs().max() / y.abs().max()).item<double>();
}

/// What a kernel must at least do.
struct Least {
  double flops = 0, bytes = 0;  // of matmuls; moved from and to memory
};

class Bench {
  int rounds;
  std::string only;
  double matmul_rate = 0, bandwidth = 0;

 public:
  Stream stream;
  std::vector<bench::Row> rows;

  Bench(int threads, int rounds_, std::string only_)
      : rounds(rounds_), only(std::move(only_)), stream(threads) {
    matmul_rate = kernel::measured_matmul_rate(stream, 0.5);
    const std::int64_t n = 1 << 25;
    std::vector<float> from(n, 1.f), to(n, 2.f);
    for (int k = 0; k < 9; ++k) {
      double us = microseconds([&] { kernel::copy(stream, from.data(), to.data(), n); });
      bandwidth = std::max(bandwidth, 2. * 4 * double(n) / us * 1e6);
    }
    std::printf("matmul: %.0f GFLOP/s in fp32; memory: %.1f GB/s (a copy of 128 MiB)\n\n",
                matmul_rate / 1e9, bandwidth / 1e9);
  }

  /// Calls `ours` and `peer` in turns. `check` tells how far apart their results are, relatively.
  void add(const std::string& name, Least least, double tolerance, const auto& ours,
           const auto& peer, const auto& check) {
    if (name.find(only) == name.npos) return;
    std::vector<double> a, b;
    ours(), peer();
    const double apart = check();
    const int calls = std::max(1, int(2000 / std::max(1., microseconds(ours))));
    for (int r = 0; r < rounds; ++r) {
      // ATen's threads spin for a while after each call, on processors that our threads need.
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      a.push_back(microseconds([&] {
                    for (int k = 0; k < calls; ++k) ours();
                  }) /
                  calls);
      b.push_back(microseconds([&] {
                    for (int k = 0; k < calls; ++k) peer();
                  }) /
                  calls);
    }
    const double mine = bench::median(a),
                 floor = 1e6 * std::max(least.flops / matmul_rate, least.bytes / bandwidth);
    char text[64];
    std::snprintf(text, sizeof text, "roofline %.1f us = %.0f %%", floor, 100 * floor / mine);
    rows.push_back({name, mine, bench::median(b), "ATen", "us", apart, apart < tolerance, text});
  }
};

std::string shape(int rows, int columns) {
  return std::to_string(rows) + "×" + std::to_string(columns);
}

void norms(Bench& b, int rows, int width) {
  const double n = 4. * rows * width;
  Tensor x = normal({rows, width}), y = torch::empty_like(x), w = normal({width}),
         c = normal({width});
  Tensor mean = torch::empty({rows}), inverse = torch::empty({rows}), other = normal({rows, width}),
         h = torch::empty_like(x);
  std::tuple<Tensor, Tensor, Tensor> made;
  b.add(
      "layer norm " + shape(rows, width), {0, 2 * n}, 1e-5,
      [&] {
        kernel::normalize_forward(b.stream, view(x), view(w), view(c), view(y), column(mean),
                                  column(inverse), 1e-5);
      },
      [&] { made = at::native_layer_norm(x, {width}, w, c, 1e-5); },
      [&] { return difference(y, std::get<0>(made)); });
  b.add(
      "add + layer norm " + shape(rows, width), {0, 4 * n}, 1e-5,
      [&] {
        kernel::add_normalize_forward(b.stream, view(x), view(other), view(w), view(c), view(h),
                                      view(y), column(mean), column(inverse), 1e-5);
      },
      [&] { made = at::native_layer_norm(x + other, {width}, w, c, 1e-5); },
      [&] { return difference(y, std::get<0>(made)); });
  made = at::native_layer_norm(x, {width}, w, c, 1e-5);
  mean.copy_(std::get<1>(made).flatten()), inverse.copy_(std::get<2>(made).flatten());
  Tensor dy = normal({rows, width}), dx = torch::empty_like(x), dw = torch::empty({width}),
         db = torch::empty({width});
  Tensor scratch = torch::empty({kernel::normalize_scratch(2, width)});
  std::tuple<Tensor, Tensor, Tensor> back;
  b.add(
      "layer norm backward " + shape(rows, width), {0, 3 * n}, 1e-4,
      [&] {
        kernel::normalize_backward(b.stream, view(x), view(w), column(mean), column(inverse),
                                   view(dy), {}, view(dx), {}, view(dw), view(db), data(scratch));
      },
      [&] {
        back = at::native_layer_norm_backward(dy, x, {width}, std::get<1>(made), std::get<2>(made),
                                              w, c, {true, true, true});
      },
      [&] {
        return std::max(difference(dx, std::get<0>(back)), difference(dw, std::get<1>(back)));
      });
}

void rms_norms(Bench& b, int rows, int width) {
  const double n = 4. * rows * width;
  Tensor x = normal({rows, width}), y = torch::empty_like(x), w = normal({width}), made;
  Tensor inverse = torch::empty({rows});
  b.add(
      "RMS norm " + shape(rows, width), {0, 2 * n}, 1e-5,
      [&] {
        kernel::normalize_forward(b.stream, view(x), view(w), {}, view(y), {}, column(inverse),
                                  1e-6);
      },
      [&] { made = at::rms_norm(x, {width}, w, 1e-6); }, [&] { return difference(y, made); });
}

void gates(Bench& b, int rows, int width) {
  const double n = 4. * rows * width;
  Tensor x = normal({rows, 2 * width}), y = torch::empty({rows, width}), made;
  Tensor gate = x.slice(1, 0, width), up = x.slice(1, width);
  b.add(
      "SwiGLU " + shape(rows, width), {0, 3 * n}, 1e-5,
      [&] { kernel::swiglu_forward(b.stream, view(x), view(y)); },
      [&] { made = at::silu(gate) * up; }, [&] { return difference(y, made); });
  Tensor dy = normal({rows, width}), dx = torch::empty_like(x);
  b.add(
      "SwiGLU backward " + shape(rows, width), {0, 5 * n}, 1e-5,
      [&] { kernel::swiglu_backward(b.stream, view(x), view(dy), view(dx)); },
      [&] { made = at::cat({at::silu_backward(dy * up, gate), dy * at::silu(gate)}, 1); },
      [&] { return difference(dx, made); });
}

void activations(Bench& b, int rows, int width) {
  const double n = 4. * rows * width;
  Tensor x = normal({rows, width}), y = torch::empty_like(x), dy = normal({rows, width}), made;
  b.add(
      "GELU (tanh) " + shape(rows, width), {0, 2 * n}, 1e-5,
      [&] {
        kernel::activation_forward(b.stream, kernel::Activation::gelu_tanh, view(x), view(y));
      },
      [&] { made = at::gelu(x, "tanh"); }, [&] { return difference(y, made); });
  b.add(
      "GELU (tanh) backward " + shape(rows, width), {0, 3 * n}, 1e-5,
      [&] {
        kernel::activation_backward(b.stream, kernel::Activation::gelu_tanh, view(x), view(dy),
                                    view(y));
      },
      [&] { made = at::gelu_backward(dy, x, "tanh"); }, [&] { return difference(y, made); });
}

/// ATen has no windows: it is given a mask, and computes all of length × length.
void attention(Bench& b, int sequences, int length, int heads, int width,
               kernel::AttentionSpan span) {
  const int rows = sequences * length;
  const std::string name = std::string(span.causal ? "causal" : "full") + " attention";
  std::string size = " " + std::to_string(sequences) + "×" + shape(length, width) + ", " +
                     std::to_string(heads) + " heads";
  double pairs = (span.causal ? .5 : 1.) * length * length;
  std::optional<Tensor> mask;
  if (span.window > 0) {
    size += ", window " + std::to_string(span.window);
    pairs = span.window * (length - span.window / 2.);
    const Tensor ones = torch::ones({length, length}, torch::kBool);
    mask = torch::zeros({length, length})
               .masked_fill_(ones.triu(1) | ones.tril(-span.window), -INFINITY);
  }
  const bool causal = span.causal && !mask;
  const double flops = 4. * sequences * pairs * width, n = 4. * rows * width;
  Tensor qkv = normal({rows, 3 * width}), y = torch::empty({rows, width}),
         log_sum = torch::empty({rows, heads});
  std::vector<std::int32_t> starts;
  for (int s = 0; s <= sequences; ++s) starts.push_back(s * length);
  auto parts = qkv.view({sequences, length, 3, heads, -1}).permute({2, 0, 3, 1, 4}).unbind();
  std::tuple<Tensor, Tensor> made;
  auto flat = [&](const Tensor& t) { return t.transpose(1, 2).reshape({rows, width}); };
  b.add(
      name + size, {flops, 4 * n}, 1e-4,
      [&] {
        kernel::attention_forward(b.stream, view(qkv), view(y), view(log_sum),
                                  {starts.data(), sequences, starts.back()}, span);
      },
      [&] {
        made = at::_scaled_dot_product_flash_attention_for_cpu(parts[0], parts[1], parts[2], 0,
                                                               causal, mask);
      },
      [&] { return difference(y, flat(std::get<0>(made))); });
  kernel::attention_forward(b.stream, view(qkv), view(y), view(log_sum),
                            {starts.data(), sequences, starts.back()}, span);
  made = at::_scaled_dot_product_flash_attention_for_cpu(parts[0], parts[1], parts[2], 0, causal,
                                                         mask);
  Tensor dy = normal({rows, width}), dqkv = torch::empty_like(qkv);
  Tensor slopes = dy.view({sequences, length, heads, -1}).transpose(1, 2);
  std::tuple<Tensor, Tensor, Tensor> back;
  b.add(
      name + " backward" + size, {2.5 * flops, 8 * n}, 1e-4,
      [&] {
        kernel::attention_backward(b.stream, view(qkv), view(y), view(dy), view(log_sum),
                                   view(dqkv), {starts.data(), sequences, starts.back()}, span,
                                   static_cast<float*>(nullptr));
      },
      [&] {
        back = at::_scaled_dot_product_flash_attention_for_cpu_backward(
            slopes, parts[0], parts[1], parts[2], std::get<0>(made), std::get<1>(made), 0, causal,
            mask);
      },
      [&] { return difference(dqkv.slice(1, 0, width), flat(std::get<0>(back))); });
}

void losses(Bench& b, int rows, int width, int vocabulary) {
  Tensor x = normal({rows, width}), table = normal({vocabulary, width}) * .02,
         ids = torch::randint(vocabulary, {rows}, torch::kInt32);
  Tensor dx = torch::empty_like(x), dtable = torch::empty_like(table), loss = torch::empty({rows});
  const int chunk = std::max(128, (1 << 20) / vocabulary);
  Tensor scratch = torch::empty({std::min(chunk, rows), vocabulary}),
         wide_ids = ids.to(torch::kInt64);
  Tensor back_x, back_table;
  b.add(
      "linear + cross-entropy, both ways " + shape(rows, width) + " to " +
          std::to_string(vocabulary),
      {6. * rows * width * vocabulary, 0}, 1e-3,
      [&] {
        kernel::linear_cross_entropy(b.stream, view(x), view(table), column<std::int32_t>(ids),
                                     column(loss), view(dx), view(dtable), 1. / rows,
                                     view(scratch));
      },
      [&] {
        Tensor log_p = at::_log_softmax(x.matmul(table.t()), 1, false);
        Tensor slope = at::full_like(log_p, 0).scatter_(1, wide_ids.unsqueeze(1), -1. / rows);
        Tensor d = at::_log_softmax_backward_data(slope, log_p, 1, torch::kFloat32);
        back_x = d.matmul(table), back_table = d.t().matmul(x);
      },
      [&] { return std::max(difference(dx, back_x), difference(dtable, back_table)); });
}

void tables(Bench& b, int rows, int width, int vocabulary) {
  Tensor dy = normal({rows, width}), sum = torch::empty({vocabulary, width}),
         ids = torch::randint(vocabulary, {rows}, torch::kInt32), made;
  Tensor wide_ids = ids.to(torch::kInt64);
  b.add(
      "embedding backward " + shape(rows, width) + " into " + std::to_string(vocabulary),
      {0, 4. * (3. * rows + vocabulary) * width}, 1e-5,
      [&] {
        kernel::embedding_backward(b.stream, column<std::int32_t>(ids), view(dy), view(sum),
                                   nullptr);
      },
      [&] { made = at::embedding_dense_backward(dy, wide_ids, vocabulary, -1, false); },
      [&] { return difference(sum, made); });
}

void optimizers(Bench& b, int tensors, int size) {
  const std::int64_t n = std::int64_t(tensors) * size;
  Tensor p = normal({n}), g = normal({n}), m = torch::zeros({n}), v = torch::zeros({n});
  std::vector<Tensor> weights, gradients, mean, square, unused, steps;
  for (int k = 0; k < tensors; ++k) {
    auto part = [&](const Tensor& flat) {
      return flat.slice(0, std::int64_t(k) * size, std::int64_t(k + 1) * size).clone();
    };
    weights.push_back(part(p)), gradients.push_back(part(g)), mean.push_back(part(m)),
        square.push_back(part(v)), steps.push_back(torch::zeros({}));
  }
  b.add(
      "AdamW of " + std::to_string(tensors) + " tensors of " + std::to_string(size),
      {0, 28. * double(n)}, 1e-2,
      [&] {
        const ParameterSpan<float, float, float, float> span{
            b.stream, data(p), data(g), {{{data(m), n}, {data(v), n}}}, nullptr, n, true, 1e-3,
            1,        1,       nullptr};
        kernel::adamw({.weight_decay = .1}, span);
      },
      [&] {
        at::_foreach_add_(steps, 1);
        at::_fused_adamw_(weights, gradients, mean, square, unused, steps, 1e-3, .9, .999, .1, 1e-8,
                          false, false);
      },
      [&] { return difference(p.slice(0, 0, size), weights[0]); });
}

void matmuls(Bench& b, int m, int n, int k) {
  const std::string size = std::to_string(m) + "×" + std::to_string(k) + " · " + std::to_string(k) +
                           "×" + std::to_string(n);
  Tensor x = normal({m, k}), w = normal({k, n}), y = torch::empty({m, n}),
         made = torch::empty({m, n});
  const double flops = 2. * m * n * k;
  b.add(
      "matmul " + size, {flops, 0}, 1e-5,
      [&] { kernel::matmul(b.stream, view(x), view(w), view(y)); }, [&] { at::mm_out(made, x, w); },
      [&] { return difference(y, made); });
  b.add(
      "matmul of a transpose " + size, {flops, 0}, 1e-5,
      [&, t = x.t().contiguous()] {
        kernel::matmul(b.stream, transposed(view(t)), view(w), view(y));
      },
      [&, t = x.t().contiguous()] { at::mm_out(made, t.t(), w); },
      [&] { return difference(y, made); });
  Tensor hx = x.to(torch::kBFloat16), hw = w.to(torch::kBFloat16), hy = y.to(torch::kBFloat16),
         hmade = hy.clone();
  b.add(
      "matmul in bf16 " + size, {flops, 0}, 2e-2,
      [&] { kernel::matmul(b.stream, view<BFloat16>(hx), view<BFloat16>(hw), view<BFloat16>(hy)); },
      [&] { at::mm_out(hmade, hx, hw); }, [&] { return difference(hy, hmade); });
}

}  // namespace

int main(int argc, char** argv) {
  bench::CommandLine line("Each kernel against ATen's.", 1);
  int rounds = 9;
  std::string only;
  line.add_count("--rounds", rounds, "Turns that each takes");
  line.add_option("--only", only, "Rows whose names have this");
  line.read(argc, argv);
  at::set_num_threads(line.threads);
  at::InferenceMode no_autograd;
  bench::Report report(line);
  Bench b(line.threads, rounds, only);
  for (int width : {64, 256, 768}) {
    norms(b, 1024, width);
    rms_norms(b, 1024, width);
    gates(b, 1024, 4 * width);
    activations(b, 1024, 4 * width);
    matmuls(b, 1024, 3 * width, width);
    matmuls(b, 1024, width, 4 * width);
  }
  for (bool causal : {true, false}) {
    attention(b, 8, 128, 8, 256, {.causal = causal});
    attention(b, 2, 1024, 12, 768, {.causal = causal});
  }
  attention(b, 2, 1024, 12, 768, {.causal = true, .window = 128});
  losses(b, 1024, 256, 256);
  losses(b, 1024, 512, 4096);
  losses(b, 1024, 768, 50257);
  tables(b, 1024, 256, 256);
  tables(b, 1024, 768, 50257);
  optimizers(b, 200, 1000);
  optimizers(b, 20, 2000000);
  report.print(b.rows);
  return report.write();
}
