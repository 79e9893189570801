// SPDX-License-Identifier: Apache-2.0
#include "run/batch_check.hpp"

#include <algorithm>
#include <string>

#include "sinter/data/host_batch.hpp"
#include "sinter/error.hpp"
#include "sinter/program/padding.hpp"

namespace sinter::detail {

namespace {

[[noreturn]] void refuse(const std::string& what) { throw ArgumentError(what); }

void check_ids(const Model& model, int external, std::span<const std::int32_t> ids) {
  const int limit = id_limit(model, external);
  const bool targets = model.externals[external].targets;  // below zero: nothing to predict
  for (std::size_t r = 0; r < ids.size(); ++r)
    if (ids[r] >= limit || (ids[r] < 0 && !targets))
      refuse("id " + std::to_string(ids[r]) + " in row " + std::to_string(r) + " of input " +
             std::to_string(external) + " is outside the model's table of " +
             std::to_string(limit) + ". Check the data's vocabulary.");
}

void check_starts(const char* name, const char* axis, const std::vector<std::int32_t>& starts,
                  int context) {
  if (starts[0] != 0)
    refuse("a batch whose first sequence starts at row " + std::to_string(starts[0]) + axis + "; " +
           name + "[0] must be 0.");
  for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
    const int length = starts[s + 1] - starts[s];
    if (length < 1 || length > context)
      refuse("sequence " + std::to_string(s) + " has " + std::to_string(length) + " rows" + axis +
             "; the recipe's context allows 1 to " + std::to_string(context) + ".");
  }
}

void check_sequences(const PlanView& plan, const HostBatch& batch) {
  if (batch.sequences() < 1) refuse("a batch without sequences. Give at least one.");
  check_starts("starts", "", batch.starts, plan.context);
  if (batch.second_starts.empty()) {
    if (plan.second_context >= plan.context) return;
    return check_starts("starts", " on axis 1", batch.starts, plan.second_context);
  }
  if (batch.second_starts.size() != batch.starts.size())
    refuse("a batch of " + std::to_string(batch.sequences()) + " sequences on axis 0 and " +
           std::to_string(batch.second_starts.size() - 1) +
           " on axis 1. Give second_starts an entry for each entry of starts.");
  check_starts("second_starts", " on axis 1", batch.second_starts, plan.second_context);
}

/// Checks which rows of axis 1 are padding.
void check_padding(const Model& model, const HostBatch& batch) {
  const std::vector<std::int32_t>& lengths = batch.second_lengths;
  if (lengths.empty()) return;
  const std::size_t sequences = batch.second_starts.empty() ? 0 : batch.second_starts.size() - 1;
  if (lengths.size() != sequences)
    refuse("a batch of " + std::to_string(sequences) + " sequences in second_starts and " +
           std::to_string(lengths.size()) +
           " in second_lengths. Give each its number of rows without padding.");
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    const int rows = batch.second_starts[s + 1] - batch.second_starts[s];
    if (lengths[s] < 1 || lengths[s] > rows)
      refuse("sequence " + std::to_string(s) + " has " + std::to_string(rows) +
             " rows on axis 1, and second_lengths says that " + std::to_string(lengths[s]) +
             " of them are no padding; from 1 to all may be.");
  }
  if (reads_padding(model))
    refuse(
        "the batch has padding on axis 1 (second_lengths), and a layer of the model mixes rows of "
        "that axis without stating skips_padding. Take batches without padding, such as those of "
        "Packed, or such a layer (docs/add_a_layer.md).");
}

/// Refuses inputs that nothing reads. A batch to predict for may have those of training, too.
void check_surplus(const PlanView& plan, const HostBatch& batch) {
  auto check = [](const char* name, auto& inputs, std::size_t asked, const char* more) {
    for (std::size_t k = asked; k < inputs.size(); ++k)
      if (!inputs[k].empty())
        refuse("the batch has " + std::to_string(inputs.size()) + " inputs in " + name +
               ", and the model asks for " + std::to_string(asked) + ": nothing reads " + name +
               "[" + std::to_string(k) + "]. Leave it out, or have the model's trace ask for it." +
               more);
  };
  std::size_t ids = 0, values = 0;
  for (const External& external : plan.model.externals) ++(external.width ? values : ids);
  check("ids", batch.ids, ids,
        ids > 0 ? "" : " A model of classes is a classifier, such as Mlp<{.classifier = true}>.");
  check("values", batch.values, values, "");
  if (!plan.model.has_second_axis() && !batch.second_starts.empty())
    refuse(
        "the batch has second_starts, and the model has no input on axis 1. Leave them out, or "
        "have the model's trace ask for one, such as g.tokens(1).");
}

}  // namespace

void check_batch(const PlanView& plan, const Model& model, const HostBatch& batch) {
  check_sequences(plan, batch);
  check_padding(model, batch);
  check_surplus(plan, batch);
  std::size_t ids = 0, values = 0;
  for (int e = 0; e < int(model.externals.size()); ++e) {
    const External& external = model.externals[e];
    const std::size_t width = std::size_t(external.width);
    const auto rows = std::size_t(batch.held_rows(external.axis).count());
    std::size_t& next = width ? values : ids;
    std::size_t have = width ? batch.values.size() : batch.ids.size();
    if (next >= have)
      refuse("the model asks for more inputs than the batch has: input " + std::to_string(e) +
             " is missing.");
    std::size_t size = width ? batch.values[next].size() : batch.ids[next].size();
    if (size != rows * std::max<std::size_t>(width, 1))
      refuse("input " + std::to_string(e) + " has " + std::to_string(size) + " numbers, but " +
             std::to_string(rows) +
             (external.axis < token_axes ? " rows need " : " sequences need ") +
             std::to_string(rows * std::max<std::size_t>(width, 1)) + ".");
    if (!width) check_ids(model, e, batch.ids[next]);
    ++next;
  }
}

}  // namespace sinter::detail
