#include "sinter/run/machine.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "run/batch_check.hpp"
#include "run/binder.hpp"
#include "sinter/comm/communicator.hpp"
#include "sinter/data/host_batch.hpp"
#include "sinter/error.hpp"
#include "sinter/kernels/elementwise.hpp"
#include "sinter/kernels/norm.hpp"
#include "sinter/program/kinds.hpp"
#include "sinter/run/elements.hpp"

namespace sinter {

struct Machine::Programs {
  BoundProgram training, evaluation, prediction;
  BoundProgram* current = nullptr;
};

namespace {

/// Pages of zeros that cost nothing until they are used.
std::byte* map_pages(std::int64_t bytes) {
  void* at = mmap(nullptr, std::size_t(bytes), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw Error("Sinter: the system gives no arena of " + std::to_string(bytes) +
                " bytes. The plan needs that much; use a smaller micro-batch, checkpointing, or a "
                "machine with more memory.");
  return static_cast<std::byte*>(at);
}

std::vector<AlikeRange> alike_ranges(const std::vector<Parameter>& parameters,
                                     std::int64_t elements) {
  std::vector<const Parameter*> trained;
  for (const Parameter& p : parameters)
    if (!p.frozen) trained.push_back(&p);
  std::ranges::sort(trained, {}, [](const Parameter* p) { return p->offset; });
  std::vector<AlikeRange> ranges;
  for (const Parameter* p : trained) {
    if (!ranges.empty()) {
      AlikeRange& last = ranges.back();
      if (last.decayed == p->decayed && last.learning_rate == p->learning_rate) continue;
      last.size = p->offset - last.first;
    }
    ranges.push_back({{p->offset, elements - p->offset}, p->decayed, p->learning_rate});
  }
  return ranges;
}

}  // namespace

Machine::Machine(const PlanView& plan, const std::vector<Parameter>& parameters,
                 kernel::Stream& stream, Communicator& communicator, std::vector<OptionsOf> options)
    : plan_(plan),
      parameters_(parameters),
      stream_(stream),
      layers_stream_(stream, plan.matmul_inputs),
      communicator_(communicator),
      options_(std::move(options)),
      alike_(alike_ranges(parameters, plan.model.elements())),
      starts_(std::size_t(std::max(plan.micro, plan.evaluation_micro)) + 2, 0),
      pooled_starts_(starts_.size(), 0),
      programs_(std::make_unique<Programs>()) {
  std::size_t bytes = std::size_t(std::max<std::int64_t>(plan.memory.total, 1));
  arena_ = {map_pages(std::int64_t(bytes)), bytes};
  std::iota(pooled_starts_.begin(), pooled_starts_.end(), 0);
  now_.stream = &layers_stream_;
  programs_->training = bind(plan.model, plan.training, arena_.data(), now_);
  programs_->evaluation = bind(plan.evaluating, plan.evaluation, arena_.data(), now_);
  programs_->prediction = bind(plan.predicting, plan.prediction, arena_.data(), now_);
  programs_->training.micro = programs_->prediction.micro = plan.micro;
  programs_->evaluation.micro = plan.evaluation_micro;
  programs_->training.row_multiple = programs_->evaluation.row_multiple = plan.row_multiple;
}

Machine::~Machine() { munmap(arena_.data(), arena_.size()); }

const Model& Machine::model() const { return plan_.model; }

std::span<const Parameter> Machine::parameters_of(int unit) const {
  auto of = [](const Parameter& p) { return p.unit; };
  return std::ranges::equal_range(parameters_, unit, {}, of);
}

Machine::Part Machine::part(Space space, const Parameter& p) const {
  StatePart at;
  if (p.frozen && space != Space::master) return {};
  if (space >= Space::region) {
    at = p.state[std::size_t(int(space) - int(Space::region))];
  } else {
    const Param& param = p.layer->params[p.number];
    const Type type = type_of(model(), space);
    at.shape = {model().sizes.element[int(type)], param.rows, param.columns};
    at.offset = p.offset * model().sizes.of(type);
  }
  return {flat_address(space) + at.offset, at.shape};
}

std::byte* Machine::flat_address(Space space) const {
  return sinter::flat_address(plan_.training, arena_.data(), space);
}

const void* Machine::find_options(const void* slot) const {
  for (const OptionsOf& entry : options_)
    if (entry.slot == slot) return entry.options;
  throw Error("Sinter: an instruction asks for the options of a policy that the recipe has not.");
}

FlatRange Machine::flat_range(int first, int count, bool decayed) const {
  const Model& m = plan_.model;
  auto begin = [&](int k) {
    if (k == int(m.order.size())) return decayed ? m.decayed : m.elements();
    const GroupPlace& group = m.groups[m.order[k]];
    return decayed ? group.decayed : group.undecayed;
  };
  return {begin(first), begin(first + count) - begin(first)};
}

void Machine::begin(const Work& work, bool training) {
  work_ = work;
  loss_sum_ = 0;
  now_.training = training;
  now_.step = work.step;
  now_.seed = work.seed;
  now_.loss_weight = work.loss_weight * work.loss_scale;
  now_.iteration = 0;
}

void Machine::train(const Work& work, Observer* observer) {
  begin(work, true);
  run(programs_->training, observer);
  if (norm_.finite) ++updates_;
}

void Machine::evaluate(const Work& work, Observer* observer) {
  begin(work, false);
  run(programs_->evaluation, observer);
}

void Machine::predict(const Work& work, Observer* observer) {
  begin(work, false);
  run(programs_->prediction, observer);
}

void Machine::run(BoundProgram& program, Observer* observer) {
  programs_->current = &program;
  int iterations = (work_.sequences + program.micro - 1) / program.micro;
  int count = int(program.instructions.size());
  auto execute = [&](int t) {
    const Bound& b = program.instructions[t];
    if (b.instruction->when == When::first && now_.iteration != 0) return;
    if (b.instruction->when == When::last && now_.iteration != iterations - 1) return;
    if (!observer) return b.run(*this, b);
    observer->before(*this, t, now_.iteration);
    run_observed(b, t, *observer);
    observer->after(*this, t, now_.iteration);
  };
  for (int t = 0; t < program.body; ++t) execute(t);
  for (now_.iteration = 0; now_.iteration < iterations; ++now_.iteration)
    for (int t = program.body; t < program.after; ++t) execute(t);
  now_.iteration = 0;
  iterations = 1;
  for (int t = program.after; t < count; ++t) execute(t);
}

void Machine::run_observed(const Bound& bound, int position, Observer& observer) {
  if (bound.run != executes::calls) return bound.run(*this, bound);
  for (int c = 0; c < bound.count; ++c) {
    bound.calls[c].run(bound.calls[c].call);
    observer.after_call(*this, position, c);
  }
}

void Machine::load_micro_batch() {
  const Model& m = *programs_->current->model;
  const HostBatch& batch = *work_.batch;
  const int micro = programs_->current->micro;
  int first = work_.first_sequence + now_.iteration * micro;
  int last = std::min(first + micro, work_.first_sequence + work_.sequences);
  std::int32_t row = batch.starts[first], rows = batch.starts[last] - row;
  int sequences = last - first;
  for (int s = 0; s <= sequences; ++s) starts_[s] = batch.starts[first + s] - row;
  const int multiple = programs_->current->row_multiple,
            padded = (multiple - rows % multiple) % multiple;
  if (padded > 0) starts_[++sequences] = rows + padded;
  now_.first_row = row;
  for (int axis = 0; axis < token_axes; ++axis) {
    now_.sequences[axis] = {starts_.data(), sequences};
    now_.sequences[pooled(axis)] = {pooled_starts_.data(), sequences};
  }
  programs_->current->update(now_);
  int next_ids = 0, next_values = 0;
  for (int e = 0; e < int(m.externals.size()); ++e) {
    std::byte* to = programs_->current->inputs[e];
    std::int64_t width = m.externals[e].width;
    if (width == 0) {
      auto* ids = reinterpret_cast<std::int32_t*>(to);
      std::copy_n(batch.ids[next_ids++].data() + row, rows, ids);
      std::fill_n(ids + rows, padded, m.externals[e].targets ? -1 : 0);
      continue;
    }
    const float* from = batch.values[next_values++].data() + row * width;
    const Element element = m.sizes.element[int(Type::compute)];
    copy_values(from, to, rows * width, element);
    std::memset(to + rows * width * bytes_of(element), 0,
                std::size_t(padded * width * bytes_of(element)));
  }
}

void Machine::take_loss(const Bound& bound) {
  const Model& m = plan_.model;
  const Unit& unit = m.units[bound.instruction->what];
  int rows = now_.sequences[m.local(unit.first_value).axis].rows();
  loss_sum_ += m.sizes.element[int(Type::statistic)] == Element::f64
                   ? kernel::sum(stream_, static_cast<const double*>(bound.value), rows)
                   : kernel::sum(stream_, static_cast<const float*>(bound.value), rows);
}

void Machine::cast_weights(FlatRange range) {
  const Model& m = plan_.model;
  if (m.weights == Space::master || range.size == 0) return;
  with_element(m.sizes.element[int(Type::compute)], [&]<class T>(T) {
    if constexpr (kernel::is_narrow<T>)
      if (m.sizes.element[int(Type::master)] == Element::f32)
        return kernel::cast(stream_, flat<float>(Space::master) + range.first,
                            flat<T>(Space::weights) + range.first, range.size);
    throw Error("Sinter: there is no cast between these types of weights.");
  });
}

void Machine::clear_masters() {
  with_element(model().sizes.element[int(type_of(model(), Space::master))], [&]<class T>(T) {
    kernel::fill(stream_, flat<T>(Space::master), kernel::Wide<T>(0), model().master_elements());
  });
}

void Machine::masters_changed() { cast_weights({0, plan_.model.master_elements()}); }

const void* Machine::result(int k, int& rows, int& columns) const {
  const Local& local = plan_.predicting.local(plan_.predicting.results[k]);
  rows = now_.sequences[local.axis].rows();
  columns = local.width;
  return programs_->prediction.results[k];
}

}  // namespace sinter
