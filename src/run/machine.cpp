// SPDX-License-Identifier: Apache-2.0
#include "sinter/run/machine.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "run/batch_check.hpp"
#include "run/binder.hpp"
#include "run/rank_error.hpp"
#include "run/row_prediction.hpp"
#include "run/traffic_check.hpp"
#include "sinter/base/with_element.hpp"
#include "sinter/comm/communicator.hpp"
#include "sinter/data/host_batch.hpp"
#include "sinter/error.hpp"
#include "sinter/hardware/offload_memory.hpp"
#include "sinter/kernels/elementwise.hpp"
#include "sinter/kernels/norm.hpp"
#include "sinter/program/kinds.hpp"

namespace sinter {
using namespace detail;

struct Machine::Programs {
  BoundProgram training, evaluation, prediction;
  BoundProgram* current = nullptr;
  std::unique_ptr<RowPrediction> rows;  // once it is asked for
};

namespace {

/// Whether instructions are held to the traffic that their kinds state.
#ifdef NDEBUG
constexpr bool checks_traffic = false;
#else
constexpr bool checks_traffic = true;
#endif

const char* name_of(Element element) {
  constexpr const char* names[]{"f32", "f64", "f16", "bf16", "i32", "u8"};
  return names[int(element)];
}

std::vector<UniformSlice> uniform_slices_of(const std::vector<Parameter>& parameters,
                                            std::int64_t elements) {
  std::vector<const Parameter*> trained;
  for (const Parameter& p : parameters)
    if (!p.frozen) trained.push_back(&p);
  std::ranges::sort(trained, {}, [](const Parameter* p) { return p->offset; });
  std::vector<UniformSlice> ranges;
  for (const Parameter* p : trained) {
    if (!ranges.empty()) {
      UniformSlice& last = ranges.back();
      if (last.decayed == p->decayed && last.learning_rate == p->learning_rate) continue;
      last.size = p->offset - last.first;
    }
    ranges.push_back({{p->offset, elements - p->offset}, p->decayed, p->learning_rate});
  }
  return ranges;
}

/// Throws the failure of another rank again, with where this one has noticed it.
[[noreturn, gnu::cold, gnu::noinline]] void throw_where(const RankError& error, int rank,
                                                        const BoundProgram& program, int position,
                                                        const Now& now) {
  const Instruction& instruction = program.program[std::size_t(position)];
  const std::string on = subject(*program.model, instruction);
  throw RankErrorInProgram(error.what() + (" Rank " + std::to_string(rank)) + " was in " +
                           (now.training ? "step " + std::to_string(now.step) : "an evaluation") +
                           ", at instruction " + std::to_string(position) + ", '" +
                           instruction.kind->name + "'" + (on.empty() ? "" : " of ") + on + ".");
}

}  // namespace

Machine::Machine(const PlanView& plan, const std::vector<Parameter>& parameters,
                 kernel::Stream& stream, Communicator& communicator, std::vector<OptionsOf> options,
                 std::vector<OptionsOf> states, std::string offload_folder)
    : plan_(plan),
      parameters_(parameters),
      stream_(stream),
      layers_stream_(stream, plan.matmul_inputs),
      communicator_(communicator),
      options_(std::move(options)),
      states_(std::move(states)),
      uniform_slices_(uniform_slices_of(parameters, plan.model.elements())),
      arena_(plan.memory.total),
      pooled_starts_(std::size_t(std::max(plan.micro, plan.evaluation_micro)) + 2, 0),
      starts_memory_(std::int64_t((token_axes + 1) * pooled_starts_.size() * sizeof(std::int32_t))),
      programs_(std::make_unique<Programs>()) {
  starts_.fill(pooled_starts_);
  std::iota(pooled_starts_.begin(), pooled_starts_.end(), 0);
  pooled_starts_shown_ = show_starts(token_axes, pooled_starts_);
  if (checks_traffic && communicator.ranks() > 1)
    traffic_check_ = std::make_unique<TrafficCheck>(communicator, *this);
  now_.stream = &layers_stream_;
  find_flat_buffers();
  find_shards();
  find_offload_memory(std::move(offload_folder));
  programs_->training = detail::bind(plan.model, plan.training, arena().data(), now_);
  programs_->evaluation = detail::bind(plan.evaluating, plan.evaluation, arena().data(), now_);
  programs_->prediction = detail::bind(plan.predicting, plan.prediction, arena().data(), now_);
  programs_->training.micro = programs_->prediction.micro = plan.micro;
  programs_->evaluation.micro = plan.evaluation_micro;
  programs_->training.row_multiple = programs_->evaluation.row_multiple = plan.row_multiple;
}

Machine::~Machine() { finish_copies(stream_); }

void Machine::find_flat_buffers() {
  const Model& model = plan_.model;
  flat_.resize(std::size_t(Space::region) + model.regions.size());
  for (const Buffer& b : plan_.training.buffers) {
    FlatBuffer& buffer = flat_[std::size_t(b.space)];
    if (b.opened_by >= 0 || buffer.data) continue;
    buffer = {.data = arena().data() + b.offset, .bytes = b.bytes};
    if (!is_persistent(model, b.space)) continue;
    const Region* region = b.space < Space::region ? nullptr : &model.region_of(b.space);
    buffer.element = model.sizes.element[int(type_of(model, b.space))];
    buffer.has_shapes = region && region->shape;
    buffer.name = region ? region->name : space_names[int(b.space)];
  }
  decision_ = reinterpret_cast<kernel::Decision*>(flat_address(Space::decision));
}

void Machine::find_offload_memory(std::string folder) {
  const Model& m = plan_.model;
  std::int64_t bytes = 0;
  each_offloaded(m, [&](Space space) {
    flat_[std::size_t(space)].offloaded_at = bytes;
    bytes += offloaded_bytes(m, space);
  });
  const bool updates = !m.at_root() || communicator_.rank() == root_rank;
  const int parts = int(std::max(2 * m.order.size(), shards_.size()) * (m.regions.size() + 1));
  if (bytes > 0 && updates)
    offload_ = std::make_unique<OffloadMemory>(stream_, bytes, parts, std::move(folder));
}

void Machine::find_shards() {
  const Model& m = plan_.model;
  first_shards_.push_back(0);
  for (const short unit : m.order) {
    for (const bool decayed : {true, false})
      m.each_shard(m.part(unit, decayed), communicator_.rank(),
                   [&](const ShardSlice& shard) { shards_.push_back(shard); });
    first_shards_.push_back(shards_.size());
  }
}

void Machine::refuse(const FlatBuffer& buffer, Element element) {
  if (buffer.has_shapes)
    throw Error("the region '" + std::string(buffer.name) +
                "' has a shape of its own for each parameter, and cannot be taken as one flat "
                "buffer. Take it parameter by parameter, with Machine::part().");
  throw Error("'" + std::string(buffer.name) + "' was taken as elements of " + name_of(element) +
              ", but this recipe plans them as " + name_of(buffer.element) +
              ". Take the type from the recipe, as rewrite<R> does with R::precision.");
}

const Model& Machine::model() const { return plan_.model; }

const Model& Machine::program_model() const { return *programs_->current->model; }

Communicator& Machine::communicator() {
  if (checks_traffic && traffic_check_) return *traffic_check_;
  return communicator_;
}

std::span<const Parameter> Machine::parameters_of(int unit) const {
  auto of = [](const Parameter& p) { return p.unit; };
  return std::ranges::equal_range(parameters_, unit, {}, of);
}

StateShape Machine::shape(Space space, const Parameter& p) const {
  if (p.frozen && space != Space::master) return {};
  if (space >= Space::region) return p.state[std::size_t(int(space) - int(Space::region))].shape;
  const Param& param = p.layer->params[p.number];
  return {model().sizes.element[int(type_of(model(), space))], param.rows, param.columns};
}

Machine::Part Machine::part(Space space, const Parameter& p) const {
  const StateShape shape = this->shape(space, p);
  if (p.frozen && space != Space::master) return {};
  if (!p.frozen && model().splits(space) && p.owner != communicator_.rank())
    throw Error("a rank holds only its shards of the " +
                std::string(space_names[std::min(int(space), int(Space::region))]) + " of '" +
                p.name + "', so it has no part of its own. Take them with Machine::take().");
  if (!is_persistent(model(), space) || is_offloaded(space, p))
    throw Error("the " + std::string(space_names[std::min(int(space), int(Space::region))]) +
                " of '" + p.name + "' come and go, so they have no place that they keep.");
  return {flat_address(space) + place_in(space, p), shape};
}

bool Machine::owns(const Parameter& p) const {
  return p.owner < 0 || p.owner == communicator_.rank();
}

std::int64_t Machine::place_in(Space space, const Parameter& p) const {
  if (space >= Space::region) return p.state[std::size_t(int(space) - int(Space::region))].offset;
  return model().held_at(space, p.offset) * model().sizes.of(type_of(model(), space));
}

Machine::Part Machine::part_of_unit(Space space, const Parameter& p, std::byte* unit) const {
  const std::size_t r = std::size_t(int(space) - int(Space::region));
  const StatePart& state = p.state[r];
  const auto first = std::ranges::find_if(parameters_of(p.unit), [&](const Parameter& other) {
    return !other.frozen && other.owner == p.owner;
  });
  return {unit + (state.offset - first->state[r].offset), state.shape};
}

std::byte* Machine::kept(Space space, const Parameter& p) {
  if (!is_offloaded(space, p)) return flat_address(space);
  return offload_ ? offload_->bytes().data() + offloaded_at(space) : nullptr;
}

Machine::Part Machine::kept_part(Space space, const Parameter& p) {
  if (!is_offloaded(space, p)) return part(space, p);
  return {kept(space, p) + place_in(space, p), shape(space, p)};
}

const void* Machine::find(const std::vector<OptionsOf>& list, const void* slot) {
  for (const OptionsOf& entry : list)
    if (entry.slot == slot) return entry.options;
  throw Error(
      "an instruction asks for the options or the run state of a policy that the recipe "
      "has "
      "not.");
}

FlatSlice Machine::flat_slice(int first, int count, bool decayed) const {
  return plan_.model.slice(first, count, decayed);
}

namespace {

int micro_batches(int sequences, const BoundProgram& program) {
  return (sequences + program.micro - 1) / program.micro;
}
/// Of the loop: as many on all ranks.
int iterations_of(const Work& work, const BoundProgram& program) {
  return micro_batches(std::max(work.sequences, work.most_sequences), program);
}

}  // namespace

/// Inline, as what it costs is paid for each instruction (bench zero-overhead counts it).
[[gnu::always_inline]] inline void Machine::execute(BoundProgram& program, int position,
                                                    Observer* observer) {
  const Bound& b = program.instructions[std::size_t(position)];
  if (checks_traffic && traffic_check_)
    traffic_check_->begin(b, now_.iteration, iterations_of(work_, program));
  position_ = position;
  if (observer) {
    run_observed(b, position, *observer);
  } else {
    const auto scope = program.guard.around(position, now_.iteration);
    b.run(*this, b);
  }
  if (checks_traffic && traffic_check_) traffic_check_->end();
}

void Machine::begin(const Work& work, bool training) {
  work_ = work;
  now_.training = training;
  now_.step = work.step;
  now_.seed = work.seed;
  now_.loss_weight = work.loss_weight * work.loss_scale;
  now_.iteration = 0;
}

void Machine::train(const Work& work, Observer* observer) {
  if (offload_) offload_->open();  // before a graph is recorded
  begin(work, true);
  run(programs_->training, observer);
  read_decision();
  if (measured_.applied) ++updates_;
}

void Machine::evaluate(const Work& work, Observer* observer) {
  begin(work, false);
  if (work.sequences > 0 || programs_->evaluation.speaks) {
    run(programs_->evaluation, observer);
  } else {
    clear_decision();
  }
  if (communicator_.ranks() > 1) {
    put_predictions(work.predictions);
    communicator_.sum(&decision()->loss, kernel::Decision::up_to_predictions);
  }
  read_decision();
}

void Machine::predict(const Work& work, Observer* observer) {
  begin(work, false);
  if (work.sequences > 0 || programs_->prediction.speaks) run(programs_->prediction, observer);
}

void Machine::predict_rows(const Work& work, const TakeRows& take) {
  const Local& result = plan_.predicting.local(plan_.predicting.results[0]);
  int rows = 0, columns = 0;
  if (result.axis < token_axes) {
    predict(work);
    const OnHost values = this->result(0, rows, columns);
    return take(values, rows, columns);
  }
  std::unique_ptr<RowPrediction>& each = programs_->rows;
  if (!each) each = std::make_unique<RowPrediction>(plan_, arena().data(), now_);
  BoundProgram& program = each->program;
  programs_->current = &program;
  begin(work, false);
  clear_decision();
  for (int t = 0; t < each->tail; ++t) execute(program, t, nullptr);
  const int all = now_.sequences[each->axis].rows();
  for (int first = 0; first < all; first += each->at_once) {
    rows = std::min(each->at_once, all - first);
    each->show({first, rows}, now_);
    program.update(now_);
    for (int t = each->tail; t < int(program.instructions.size()); ++t)
      execute(program, t, nullptr);
    const std::int64_t bytes =
        std::int64_t(rows) * result.width * plan_.predicting.sizes.of(result.type);
    take({stream_, program.results[0], bytes, Access::read}, rows, result.width);
  }
}

void Machine::run(BoundProgram& program, Observer* observer) {
  programs_->current = &program;
  const int iterations = iterations_of(work_, program);
  const auto shape = [&](std::vector<std::int64_t>& numbers) {
    const BoundProgram* const all_programs[]{&programs_->training, &programs_->evaluation,
                                             &programs_->prediction};
    numbers.push_back(std::ranges::find(all_programs, &program) - std::begin(all_programs));
    for (const float vote : own_votes()) numbers.push_back(std::int64_t(vote));
    for (int k = 0; k < iterations; ++k)
      for (int axis = 0; axis < token_axes; ++axis) {
        const MicroBatch at = micro_batch(k, axis);
        numbers.insert(numbers.end(), {at.last - at.first, at.rows, at.padding});
      }
  };
  const auto all = [&] { run_all(program, iterations, observer); };
  try {
    if (observer) {
      all();
    } else {
      stream_.as_graph(shape, all);
    }
  } catch (const RankError& error) {
    throw_where(error, communicator_.rank(), program, position_, now_);
  }
}

std::array<float, kernel::Votes::count> Machine::own_votes() const {
  const kernel::Votes& own = work_.votes;
  return {float(own.stop), float(own.save), float(own.done), float(own.failed)};
}

/// And casts this rank's votes.
void Machine::clear_decision() {
  clear_on_device(stream_, decision_bytes(), sizeof(kernel::Decision));
  if (work_.votes == kernel::Votes{}) return;
  std::byte* to = decision_bytes() + offsetof(kernel::Decision, votes);
  put_values(stream_, own_votes(), to, Element::f64, 0);
}

void Machine::read_decision() {
  measured_ =
      *OnHost(stream_, decision_bytes(), sizeof measured_, Access::read).as<kernel::Decision>();
}

/// Says how many predictions a rank has evaluated.
void Machine::put_predictions(std::int64_t predictions) {
  if (predictions == 0) return;
  std::byte* to = decision_bytes() + offsetof(kernel::Decision, predictions);
  *OnHost(stream_, to, sizeof(double), Access::write).as<double>() = double(predictions);
}

void Machine::sum_over_ranks(std::span<double> values) {
  const auto bytes = std::int64_t(values.size_bytes());
  std::ranges::copy(values, OnHost(stream_, decision_bytes(), bytes, Access::write).as<double>());
  communicator_.sum(&decision()->loss, int(values.size()));
  std::ranges::copy_n(OnHost(stream_, decision_bytes(), bytes, Access::read).as<double>(),
                      std::ssize(values), values.begin());
}

void Machine::run_all(BoundProgram& program, int iterations, Observer* observer) {
  clear_decision();
  const auto until_applied = program.program.first(program.if_applied);
  if (work_.sequences >= work_.most_sequences) {
    walk(until_applied, program.loop, iterations, [&](int t, int iteration) {
      now_.iteration = iteration;
      execute(program, t, observer);
    });
  } else {
    const int filled = micro_batches(work_.sequences, program);
    walk(until_applied, program.loop, iterations, [&](int t, int iteration) {
      now_.iteration = iteration;
      // A prediction has no loop, and is of one micro-batch.
      const bool in_loop =
          program.loop.end < 0 || (t > program.loop.begin && t <= program.loop.end);
      const bool is_empty = iteration >= filled && in_loop;
      if (is_empty && program.when_empty[std::size_t(t)].passed_over) return pass_over(program, t);
      execute(program, t, observer);
    });
  }
  run_tail(program, observer);
}

/// Leaves out an instruction of a micro-batch without sequences, but for what others rely on: the first
/// contribution to a gradient, and the shape of the micro-batch.
void Machine::pass_over(BoundProgram& program, int position) {
  const Bound& bound = program.instructions[std::size_t(position)];
  const WhenEmpty& empty = program.when_empty[std::size_t(position)];
  if (bound.run == executes::load) load_starts();
  for (const auto& [at, bytes] : now_.iteration == 0 ? empty.first : empty.later)
    clear_on_device(stream_, at, bytes);
}

/// From the first instruction on that a step that is not applied passes over.
void Machine::run_tail(BoundProgram& program, Observer* observer) {
  const int all = int(program.program.size());
  for (int t = program.if_applied; t < all;) {
    int last = t;
    while (last < all && program.program[std::size_t(last)].kind->if_applied) ++last;
    if (last > t)
      stream_.only_if(&decision()->applied, [&] {
        for (int k = t; k < last; ++k) execute(program, k, observer);
      });
    if (last < all) execute(program, last, observer);
    t = last + 1;
  }
}

[[gnu::cold, gnu::noinline]] void Machine::run_observed(const Bound& bound, int position,
                                                        Observer& observer) {
  observer.before(*this, position, now_.iteration);
  if (bound.run == executes::calls) {
    for (int c = 0; c < bound.count; ++c) {
      bound.calls[c].run(bound.calls[c].call);
      observer.after_call(*this, position, c);
    }
  } else {
    bound.run(*this, bound);
  }
  observer.after(*this, position, now_.iteration);
}

bool Machine::second_axis_is_first() const { return work_.batch->second_starts.empty(); }

[[gnu::always_inline]] inline Machine::MicroBatch Machine::micro_batch(int iteration,
                                                                       int axis) const {
  const BoundProgram& program = *programs_->current;
  MicroBatch at;
  const int end = work_.first_sequence + work_.sequences;
  at.first = std::min(work_.first_sequence + iteration * program.micro, end);
  at.last = std::min(at.first + program.micro, end);
  const auto& starts = work_.batch->starts_of(second_axis_is_first() ? 0 : axis);
  at.first_row = starts[std::size_t(at.first)];
  at.rows = starts[std::size_t(at.last)] - at.first_row;
  at.padding = (program.row_multiple - at.rows % program.row_multiple) % program.row_multiple;
  return at;
}

const std::int32_t* Machine::show_starts(int axis, std::span<const std::int32_t> starts) {
  const std::size_t room = pooled_starts_.size() * sizeof(std::int32_t);
  return show_ids(stream_, starts, starts_memory_.bytes().data() + std::size_t(axis) * room);
}

/// Tells layers where the sequences of the micro-batch start on each axis.
void Machine::load_starts() {
  for (int axis = 0; axis < token_axes; ++axis) {
    if (axis > 0 && second_axis_is_first()) {
      now_.sequences[axis] = now_.sequences[0];
      now_.first_row[axis] = now_.first_row[0];
    } else {
      const MicroBatch at = micro_batch(now_.iteration, axis);
      const std::vector<std::int32_t>& starts = work_.batch->starts_of(axis);
      std::vector<std::int32_t>& to = starts_[axis];
      int sequences = at.last - at.first;
      for (int s = 0; s <= sequences; ++s) to[s] = starts[at.first + s] - at.first_row;
      if (at.padding > 0) to[++sequences] = at.rows + at.padding;
      const std::int32_t* shown = show_starts(axis, {to.data(), std::size_t(sequences) + 1});
      now_.sequences[axis] = {shown, sequences, at.rows + at.padding};
      now_.first_row[axis] = at.first_row;
    }
    const int count = now_.sequences[axis].count;
    now_.sequences[pooled(axis)] = {pooled_starts_shown_, count, count};
    now_.first_row[pooled(axis)] =
        work_.first_sequence + now_.iteration * programs_->current->micro;
  }
}

void Machine::load_micro_batch() {
  const Model& m = *programs_->current->model;
  const HostBatch& batch = *work_.batch;
  load_starts();
  programs_->current->update(now_);
  const int first = int(now_.first_row[pooled(0)]);
  const int last =
      std::min(first + programs_->current->micro, work_.first_sequence + work_.sequences);
  int next_ids = 0, next_values = 0, of_axis = -1, rows = 0, padded = 0;
  std::int64_t row = 0;
  for (int e = 0; e < int(m.externals.size()); ++e) {
    const auto [axis, width, targets] = m.externals[e];
    std::byte* to = programs_->current->inputs[e];
    if (axis != std::exchange(of_axis, axis)) {  // most inputs have the axis of the one before
      const std::int64_t first_row = now_.first_row[axis];
      row = first_row - (batch.part.is_whole() ? 0 : batch.held_rows(axis).begin);
      rows = axis < token_axes ? batch.starts_of(axis)[last] - int(first_row) : last - first;
      padded = now_.sequences[axis].rows() - rows;
    }
    if (width == 0) {
      put_ids(stream_, {batch.ids[next_ids++].data() + row, std::size_t(rows)}, to, padded,
              targets ? -1 : 0);
      continue;
    }
    const std::size_t size = std::size_t(rows) * std::size_t(width);
    put_values(stream_, {batch.values[next_values++].data() + row * width, size}, to,
               m.sizes.element[int(Type::compute)], padded * width);
  }
}

void Machine::take_norm(const kernel::ClippingRule& rule) {
  const Model& m = plan_.model;
  const ShardSlice all{{0, m.elements()}, 0};
  const bool counts_all = m.shards == 1 && (!m.at_root() || communicator_.rank() == root_rank);
  const std::span<const ShardSlice> counted =
      counts_all ? std::span(&all, 1) : std::span<const ShardSlice>(shards_);
  with_element(m.sizes.element[int(Type::gradient)], [&]<class T>(T) {
    const T* gradients = flat<T>(Space::gradient).data;
    const bool split = m.splits(Space::gradient);
    for (const ShardSlice& slice : counted)
      if (slice.size > 0)
        kernel::add_squares(stream_, gradients + slice.at(split), slice.size, &decision()->squares);
  });
  static_assert(kernel::Decision::up_to_squares <= Communicator::most_values);
  communicator().sum(&decision()->loss, traffic::summed_in_norm(m));
  kernel::decide(stream_, rule, work_.loss_scale, decision());
}

void Machine::take_loss(const Bound& bound) {
  const Model& m = plan_.model;
  const Unit& unit = m.units[bound.instruction->what];
  const int rows = now_.sequences[m.local(unit.first_value).axis].rows();
  const bool wide = m.sizes.element[int(Type::statistic)] == Element::f64;
  wide
      ? kernel::sum(stream_, static_cast<const double*>(bound.value), rows, &decision()->loss, true)
      : kernel::sum(stream_, static_cast<const float*>(bound.value), rows, &decision()->loss, true);
}

void Machine::cast_weights(FlatSlice slice) {
  const Model& m = plan_.model;
  if (!m.keeps_copy() || slice.size == 0) return;
  make_weights(flat_address(Space::master) + slice.first * m.sizes.of(Type::master),
               flat_address(Space::weights) + slice.first * m.sizes.of(Type::compute), slice.size);
}

void Machine::make_weights(const std::byte* masters, std::byte* to, std::int64_t size) {
  const Element master = model().sizes.element[int(Type::master)];
  with_element(model().sizes.element[int(Type::compute)], [&]<class T>(T) {
    T* const weights = reinterpret_cast<T*>(to);
    if (master == element_of<T>)
      return kernel::copy(stream_, reinterpret_cast<const T*>(masters), weights, size);
    if constexpr (kernel::is_narrow<T>)
      if (master == Element::f32)
        return kernel::cast(stream_, reinterpret_cast<const float*>(masters), weights, size);
    throw Error("there is no cast between these types of weights.");
  });
}

void Machine::clear_masters() {
  with_element(model().sizes.element[int(type_of(model(), Space::master))], [&]<class T>(T) {
    kernel::fill(stream_, flat<T>(Space::master).data, kernel::Wide<T>(0),
                 model().held_at(Space::master, model().master_elements()));
  });
}

void Machine::masters_changed() { cast_weights({0, plan_.model.master_elements()}); }

OnHost Machine::result(int k, int& rows, int& columns) {
  const Local& local = plan_.predicting.local(plan_.predicting.results[k]);
  rows = now_.sequences[local.axis].rows();
  columns = local.width;
  const std::int64_t bytes = std::int64_t(rows) * columns * plan_.predicting.sizes.of(local.type);
  return {stream_, programs_->prediction.results[k], bytes, Access::read};
}

}  // namespace sinter
