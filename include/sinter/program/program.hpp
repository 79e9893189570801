// SPDX-License-Identifier: Apache-2.0
// The programs that every recipe starts from: training, evaluation, prediction.
#pragma once
#include "sinter/program/kinds.hpp"

namespace sinter::detail {

/// The plain program of training. It runs all units forward and backward for each micro-batch, then
/// `norm` and `update`, the kinds of the recipe's clipping and optimizer. A unit without a backward
/// saves nothing. Running values change in a copy, which is kept if the step is applied.
constexpr Program plain(const Model& model, const Kind* norm, const Kind* update) {
  Program program;
  program.reserve(3 * model.count() + 10);
  bool running = false;
  for (int u = 0; u < model.count(); ++u) running |= model.changes_running(u);
  if (running) program.push_back({&copy_running});
  program.push_back({&loop});
  program.push_back({&load});
  for (int u = 0; u < model.count(); ++u)
    program.push_back({model.units[u].backward ? &forward : &evaluate, short(u)});
  for (int u = model.count(); u-- > 0;) {
    if (!model.units[u].backward) continue;
    program.push_back({&backward, short(u)});
    if (model.plan(u).loss) program.push_back({&take_loss, short(u)});
  }
  program.push_back({&end_loop});
  program.push_back({norm, 0, short(model.order.size())});
  if (running) program.push_back({&keep_running});
  program.push_back({update, 0, short(model.order.size())});
  return program;
}

/// The program of an evaluation, which sums the losses of a batch, and saves nothing for backward.
constexpr Program evaluation(const Model& model) {
  Program program;
  program.reserve(model.count() + 8);
  program.push_back({&loop});
  program.push_back({&load});
  for (int u = 0; u < model.count(); ++u) {
    program.push_back({&evaluate, short(u)});
    if (model.plan(u).loss) program.push_back({&take_loss, short(u)});
  }
  program.push_back({&end_loop});
  return program;
}

/// The program of a prediction, which computes the model's results for one micro-batch.
constexpr Program prediction(const Model& model) {
  Program program;
  program.reserve(model.count() + 8);
  program.push_back({&load});
  for (int u = 0; u < model.count(); ++u) program.push_back({&evaluate, short(u)});
  for (int value : model.results) program.push_back({&result, short(value)});
  return program;
}

}  // namespace sinter::detail
