// SPDX-License-Identifier: Apache-2.0
#include "sinter/run/machine.hpp"

#include <algorithm>
#include <utility>

#include "hardware/large_pages.hpp"
#include "run/binder.hpp"
#include "run/decision.hpp"
#include "run/encoder.hpp"
#include "run/rank_error.hpp"
#include "run/row_prediction.hpp"
#include "run/traffic_check.hpp"
#include "sinter/error.hpp"
#include "sinter/hardware/offload_memory.hpp"
#include "sinter/program/kinds.hpp"

namespace sinter {
using namespace detail;

struct Machine::Programs {
  BoundProgram training, evaluation, prediction, decode;
  BoundProgram* current = nullptr;
  std::unique_ptr<RowPrediction> rows;  // once it is asked for
};

namespace {

/// Whether instructions are checked against the traffic that their kinds state.
#ifdef NDEBUG
constexpr bool checks_traffic = false;
#else
constexpr bool checks_traffic = true;
#endif

/// Throws the failure of another rank again, with the place where this one noticed it.
[[noreturn, gnu::cold, gnu::noinline]] void throw_where(const RankError& error, int rank,
                                                        const BoundProgram& program, int position,
                                                        const Now& now) {
  const Instruction& instruction = program.program[std::size_t(position)];
  const std::string on = subject(*program.model, instruction);
  const std::string during = now.training ? "step " + std::to_string(now.step) : "an evaluation";
  throw RankErrorInProgram(
      with_place(error, rank,
                 "in " + during + ", at instruction " + std::to_string(position) + ", '" +
                     instruction.kind->name + "'" + (on.empty() ? "" : " of ") + on));
}

/// How many bytes of an arena, from its start, a program uses as a whole: all that lives through its
/// steps but the caches of texts, which are used as far as the texts are long.
std::int64_t used_whole(const PlacementView& placement) {
  for (const Buffer& b : placement.buffers)
    if (b.opened_by < 0 && b.space == Space::cache) return b.offset;
  return placement.persistent;
}

}  // namespace

Machine::Machine(const PlanView& plan, const std::vector<Parameter>& parameters,
                 kernel::Stream& stream, Communicator& communicator, std::vector<OptionsOf> options,
                 std::vector<OptionsOf> states, std::string offload_folder)
    : plan_(plan),
      stream_(stream),
      communicator_(communicator),
      options_(std::move(options)),
      states_(std::move(states)),
      arena_(plan.memory.total),
      parameters_(plan, parameters, stream, communicator.rank(),
                  in_large_pages(arena(), used_whole(plan.prediction)), std::move(offload_folder)),
      inputs_(stream, plan),
      programs_(std::make_unique<Programs>()),
      decision_(reinterpret_cast<kernel::Decision*>(flat<std::byte>(Space::decision).data)) {
  if (checks_traffic && communicator.ranks() > 1)
    traffic_check_ = std::make_unique<TrafficCheck>(communicator, *this);
  programs_->training = detail::bind(plan.model, plan.training, arena().data(), now());
  programs_->evaluation = detail::bind(plan.evaluating, plan.evaluation, arena().data(), now());
  programs_->prediction = detail::bind(plan.predicting, plan.prediction, arena().data(), now());
  programs_->decode = detail::bind(plan.decoding, plan.decode, arena().data(), now());
  programs_->decode.micro = plan.max_texts;
  programs_->training.micro = plan.micro;
  programs_->prediction.micro = plan.max_texts > 0 ? plan.prefill_texts : plan.micro;
  programs_->evaluation.micro = plan.evaluation_micro;
  programs_->training.row_multiple = programs_->evaluation.row_multiple = plan.row_multiple;
}

Machine::~Machine() { finish_copies(stream_); }

const Model& Machine::program_model() const { return *programs_->current->model; }

Communicator& Machine::communicator() {
  if (checks_traffic && traffic_check_) return *traffic_check_;
  return communicator_;
}

const void* Machine::find(const std::vector<OptionsOf>& list, const void* slot) {
  for (const OptionsOf& entry : list)
    if (entry.slot == slot) return entry.options;
  throw Error(
      "an instruction asks for the options or the run state of a policy that the recipe has not.");
}

/// Inline, as each instruction pays its cost (bench zero-overhead counts it).
[[gnu::always_inline]] inline void Machine::execute(BoundProgram& program, const Bound& b,
                                                    int position, Observer* observer) {
  if (checks_traffic && traffic_check_)
    traffic_check_->begin(b, now().iteration, inputs_.iterations());
  position_ = position;
  if (observer) {
    run_observed(b, position, *observer);
  } else {
    const auto scope = program.guard.around(position, now().iteration);
    b.run(*this, b);
  }
  if (checks_traffic && traffic_check_) traffic_check_->end();
}

void Machine::begin(const Work& work, BoundProgram& program, bool training) {
  programs_->current = &program;
  inputs_.begin(work, program, training);
}

void Machine::train(const Work& work, Observer* observer) {
  if (OffloadMemory* offload = parameters_.offload())
    offload->open();  // before a graph is recorded
  begin(work, programs_->training, true);
  run(observer);
  read_decision(stream_, decision_, measured_);
  if (measured_.applied) ++updates_;
}

void Machine::evaluate(const Work& work, Observer* observer) {
  begin(work, programs_->evaluation, false);
  if (work.sequences > 0 || programs_->evaluation.communicates) {
    run(observer);
  } else {
    begin_decision(stream_, decision_, work.votes);
  }
  if (communicator_.ranks() > 1) {
    put_predictions(stream_, decision_, work.predictions);
    communicator_.sum(&decision_->loss, kernel::Decision::up_to_predictions);
  }
  read_decision(stream_, decision_, measured_);
}

void Machine::predict(const Work& work, Observer* observer) {
  begin(work, programs_->prediction, false);
  if (!work.encoded.empty()) return run_behind_encoder();
  if (work.sequences > 0 || programs_->prediction.communicates) run(observer);
}

/// Runs a prediction with Work::encoded in place of what its encoder would compute.
void Machine::run_behind_encoder() {
  BoundProgram& program = *programs_->current;
  const Model& model = *program.model;
  const int writer = model.writers[std::size_t(encoded_value(model))];
  const Buffer& to = encoded_buffer(model, plan_.prediction);
  begin_decision(stream_, decision_, inputs_.work().votes);
  for (int t = 0; t < int(program.instructions.size()); ++t) {
    const Instruction& instruction = program.program[std::size_t(t)];
    if (instruction.kind->phases == 0 || !is_of_encoder(model, instruction.what)) {
      execute(program, program.instructions[std::size_t(t)], t, nullptr);
    } else if (instruction.what == writer) {
      const std::span<const std::byte> encoded = inputs_.work().encoded;
      const OnHost rows(stream_, arena().data() + to.offset, std::ssize(encoded), Access::write);
      std::ranges::copy(encoded, rows.data());
    }
  }
}

void Machine::decode(const Work& work, Observer* observer) {
  begin(work, programs_->decode, false);
  run(observer);
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
  if (!each) each = std::make_unique<RowPrediction>(plan_, arena().data(), now());
  BoundProgram& program = each->program;
  begin(work, program, false);
  begin_decision(stream_, decision_, work.votes);
  for (int t = 0; t < each->tail; ++t)
    execute(program, program.instructions[std::size_t(t)], t, nullptr);
  const int all = now().sequences[each->axis].rows();
  for (int first = 0; first < all; first += each->at_once) {
    rows = std::min(each->at_once, all - first);
    each->show({first, rows}, inputs_.now());
    program.update(now());
    for (int t = each->tail; t < int(program.instructions.size()); ++t)
      execute(program, program.instructions[std::size_t(t)], t, nullptr);
    const std::int64_t bytes =
        std::int64_t(rows) * result.width * plan_.predicting.sizes.of(result.type);
    take({stream_, program.results[0], bytes, Access::read}, rows, result.width);
  }
}

void Machine::run(Observer* observer) {
  const auto shape = [&](std::vector<std::int64_t>& numbers) {
    const BoundProgram* const all_programs[]{&programs_->training, &programs_->evaluation,
                                             &programs_->prediction, &programs_->decode};
    numbers.push_back(std::ranges::find(all_programs, programs_->current) -
                      std::begin(all_programs));
    for (const float vote : numbers_of(inputs_.work().votes)) numbers.push_back(std::int64_t(vote));
    inputs_.append_shape(numbers);
  };
  const auto all = [&] { run_all(observer); };
  try {
    if (observer) {
      all();
    } else {
      stream_.as_graph(shape, all);
    }
  } catch (const RankError& error) {
    throw_where(error, communicator_.rank(), *programs_->current, position_, now());
  }
}

void Machine::sum_over_ranks(std::span<double> values) {
  detail::sum_over_ranks(stream_, communicator_, decision_, values);
}

void Machine::run_all(Observer* observer) {
  BoundProgram& program = *programs_->current;
  const Work& work = inputs_.work();
  begin_decision(stream_, decision_, work.votes);
  const auto until_applied = program.program.first(program.if_applied);
  const Bound* const bound = program.instructions.data();
  if (work.sequences >= work.max_sequences) {
    walk(until_applied, program.loop, inputs_.iterations(), [&](int t, int iteration) {
      inputs_.now().iteration = iteration;
      execute(program, bound[t], t, observer);
    });
  } else {
    const int filled = inputs_.filled();
    walk(until_applied, program.loop, inputs_.iterations(), [&](int t, int iteration) {
      inputs_.now().iteration = iteration;
      // A prediction has no loop, and is of one micro-batch.
      const bool in_loop =
          program.loop.end < 0 || (t > program.loop.begin && t <= program.loop.end);
      const bool is_empty = iteration >= filled && in_loop;
      if (is_empty && program.when_empty[std::size_t(t)].skipped) return skip(program, t);
      execute(program, bound[t], t, observer);
    });
  }
  run_tail(program, observer);
}

/// Skips an instruction of a micro-batch without sequences. Does what others rely on: clears gradients
/// that it would assign, and sets the micro-batch's shape.
void Machine::skip(BoundProgram& program, int position) {
  const Bound& bound = program.instructions[std::size_t(position)];
  const WhenEmpty& empty = program.when_empty[std::size_t(position)];
  if (bound.run == executes::load) inputs_.load_starts();
  for (const auto& [at, bytes] : now().iteration == 0 ? empty.first : empty.later)
    clear_on_device(stream_, at, bytes);
}

/// Runs the rest of the program, from the first instruction that is skipped if the step is not applied.
void Machine::run_tail(BoundProgram& program, Observer* observer) {
  const int all = int(program.program.size());
  const Bound* const bound = program.instructions.data();
  for (int t = program.if_applied; t < all;) {
    int last = t;
    while (last < all && program.program[std::size_t(last)].kind->if_applied) ++last;
    if (last > t)
      stream_.only_if(&decision_->applied, [&] {
        for (int k = t; k < last; ++k) execute(program, bound[k], k, observer);
      });
    if (last < all) execute(program, bound[last], last, observer);
    t = last + 1;
  }
}

[[gnu::cold, gnu::noinline]] void Machine::run_observed(const Bound& bound, int position,
                                                        Observer& observer) {
  observer.before(*this, position, now().iteration);
  if (bound.run == executes::calls) {
    for (int c = 0; c < bound.count; ++c) {
      bound.calls[c].run(bound.calls[c].call);
      observer.after_call(*this, position, c);
    }
  } else {
    bound.run(*this, bound);
  }
  observer.after(*this, position, now().iteration);
}

OnHost Machine::result(int k, int& rows, int& columns) {
  const BoundProgram& program = *programs_->current;
  const Model& model = *program.model;
  const Local& local = model.local(model.results[k]);
  rows = now().sequences[local.axis].rows();
  columns = local.width;
  const std::int64_t bytes = std::int64_t(rows) * columns * model.sizes.of(local.type);
  return {stream_, program.results[k], bytes, Access::read};
}

}  // namespace sinter
