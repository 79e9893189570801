// SPDX-License-Identifier: Apache-2.0
// Readable compile errors. A check returns a bool, which drives the code; the message is in a
// function that is named but never called. So there is one error, with the user's line in it, and
// no cascade.
#pragma once
#include <algorithm>
#include <string_view>

#include "sinter/base/text.hpp"
#include "sinter/layer/context.hpp"

namespace sinter::detail {

template <class Layer, int Gives, int Takes>
auto two_layers_do_not_fit() {
  static_assert(Gives == Takes,
                "Sinter: two layers do not fit. What: Layer takes values as wide as Takes, the "
                "value joined here is as wide as Gives; all three are in this error. Why: widths "
                "are part of the type; nothing is padded or cut. Fix: change the layer's input "
                "width, or put a Linear<Gives, Takes> between.");
}

template <class Unit, class... Values>
auto unit_does_not_take() {
  static_assert(sizeof(Unit) == 0,
                "Sinter: a unit does not take the values joined to it. What: Unit and the Values, "
                "with their widths, are in this error; Unit::trace(g, …) says what it takes. Why: "
                "widths are part of the type; nothing is padded or cut. Fix: give it values of "
                "those widths, in that order, or change its parameters.");
}

template <class Results, class Inputs>
auto repeated_unit_does_not_take_its_results() {
  static_assert(sizeof(Results) == 0,
                "Sinter: a repeated unit does not take its own results; its Results and Inputs, "
                "with their widths, are in this error. Why: each copy is fed by the one before. "
                "Fix: let it return as many values as it is fed, of the same widths, or use "
                "unit().");
}

template <class Layer, std::size_t Given, std::size_t Takes>
auto layer_takes_other_inputs() {
  static_assert(Given == Takes,
                "Sinter: wrong number of inputs for this layer; it and both numbers are in this "
                "error. Fix: join as many values as Layer::in has widths.");
}

template <class Layer, Text Member, Text Expected>
auto a_layer_has_another_member() {
  static_assert(sizeof(Layer) == 0,
                "Sinter: a member of a layer is missing, or not what it must be. What: Layer, the "
                "Member and what is Expected of it are in this error. Why: the planner counts "
                "widths and bytes by it when the recipe compiles, and the step calls it. Fix: make "
                "it static and public, as in static constexpr std::array in{W}; see "
                "sinter/layer/layer.hpp.");
}

template <class Layer, class P>
auto layer_lacks_backward() {
  static_assert(Differentiable<Layer, P>,
                "Sinter: this layer has forward() but no backward(). Why: the training step calls "
                "both; there is no autograd behind it. Fix: write static void backward(auto& c) "
                "that sets c.dx() from c.dy().");
}

template <class Slot, class PolicyList>
auto two_policies_claim_one_slot() {
  static_assert(PolicyList::count <= 1,
                "Sinter: two policies claim one slot; the slot and both policies are named in this "
                "error. Why: the recipe would be ambiguous, and Sinter never picks silently. Fix: "
                "keep one of them.");
}

template <class Policy, bool HasSlot>
auto this_is_not_a_policy() {
  static_assert(HasSlot,
                "Sinter: a recipe is made of policies, and Policy, in this error, is none. Why: a "
                "policy says which slot it claims (using slot = …). Fix: if these are options, "
                "name the policy that takes them, as in Batch<{.global = 8, .micro = 4}>.");
}

template <class R>
auto this_is_not_a_recipe() {
  static_assert(sizeof(R) == 0,
                "Sinter: R, in this error, is no recipe. Why: a recipe derives from Recipe<…>, and "
                "a compiler leaves that out where it cannot read the list of policies. Fix: the "
                "error before this one, if there is one, such as the name of a policy or option; "
                "else struct mine : Recipe<…> {}.");
}

template <class Recipe>
auto recipe_lacks_a_model() {
  static_assert(sizeof(Recipe) == 0,
                "Sinter: this recipe has no model. Why: there is nothing to train; no model is the "
                "default. Fix: add one, such as Gpt2<{.layers = 4, .heads = 4, .width = 128}> or "
                "Mlp<{.in = 8, .hidden = 64, .out = 1}>.");
}

template <class Policy>
auto a_policy_does_nothing() {
  static_assert(sizeof(Policy) == 0,
                "Sinter: a policy does nothing. What: Policy, in this error, fills a slot of its "
                "own, and has no hook that changes a step or forbids a recipe. Why: a hook that is "
                "misspelt, private or takes other arguments would be passed over without a word. "
                "Fix: correct its name or arguments; sinter/policy/hooks.hpp lists all hooks. If "
                "only other policies look at this one, say so by using rules = RuleList<>.");
}

template <class Policy>
auto a_slot_has_no_name() {
  static_assert(sizeof(Policy) == 0,
                "Sinter: the slot of a policy has no name. What: Policy is in this error. Why: "
                "flags, `describe` and checkpoints name options by their slots. Fix: give the slot "
                "static constexpr std::string_view name = ….");
}

template <class Policy, class Other>
auto two_slots_have_one_name() {
  static_assert(sizeof(Policy) == 0,
                "Sinter: two slots have one name. What: the slots are those of Policy and Other, "
                "in this error. Why: flags, `describe` and checkpoints name options by their "
                "slots, so that an option of one would be taken for the other's. Fix: give one of "
                "the slots another name, or let both policies fill the same slot.");
}

template <class Policy, class Aggregate>
auto fields_are_not_listed() {
  static_assert(sizeof(Policy) == 0,
                "Sinter: options or a run state do not list their fields. What: the Aggregate and "
                "its Policy are in this error. Why: what is not listed is no flag, is checked by "
                "nobody, and is missing in `describe` and in checkpoints. Fix: put "
                "SINTER_FIELDS((a).at_least(0).adjustable(), (b)) inside it, with all its fields.");
}

template <class Policy, class Aggregate, Text Name>
auto a_listed_name_is_no_field() {
  static_assert(sizeof(Policy) == 0,
                "Sinter: a list of fields has a name that is no field. What: the Name, the "
                "Aggregate with the list, and its Policy are in this error. Why: there is nothing "
                "that a flag could set or a checkpoint hold. Fix: correct the name in "
                "SINTER_FIELDS, or declare the field.");
}

template <class Policy, Text Option, auto Value, Text Allowed>
auto an_option_is_out_of_range() {
  static_assert(sizeof(Policy) == 0,
                "Sinter: an option of a policy is outside its range. What: Policy, the Option, its "
                "Value and what is Allowed, where nothing is any finite number, are in this error. "
                "Why: with other values the policy's arithmetic has no meaning, or makes numbers "
                "that are not finite. Fix: give the option a value that is allowed.");
}

template <class Policy, Text What, Text Fix>
auto two_options_contradict() {
  static_assert(sizeof(Policy) == 0,
                "Sinter: options of a policy contradict each other. Policy, What is wrong and the "
                "Fix are in this error. Why: each value is allowed, but not beside the others, and "
                "Sinter never picks silently.");
}

template <class Policy, Text Option>
auto a_range_is_of_no_number() {
  static_assert(sizeof(Policy) == 0,
                "Sinter: a policy has a range of an option that is no number. What: Policy and the "
                "Option are in this error. Why: the range would be checked of nothing. Fix: leave "
                "the bounds out in SINTER_FIELDS of Policy::Options; only numbers have them.");
}

template <class Recipe, Text Mistake, Text Unit, int Number>
auto the_model_is_wrong() {
  static_assert(sizeof(Recipe) == 0,
                "Sinter: the units of this recipe's model are joined wrongly. The mistake, the "
                "unit and its number are in this error. Why: every value is a buffer that one unit "
                "writes and others read. Fix: correct the model's trace() or predict(), or the "
                "unit's trace().");
}

template <class Recipe, Text Mistake, Text Name>
auto a_policy_names_parameters_wrongly() {
  static_assert(
      sizeof(Recipe) == 0,
      "Sinter: a policy of this recipe names parameters wrongly. The mistake and the name "
      "are in this error. Why: a slip of the pen would train what you want to keep, or "
      "at another rate. Fix: use the names that `describe` lists, with * for any "
      "letters; what is frozen are whole units, and not all of them; what Lora adapts are layers "
      "Linear, by the names of their parameters up to the last dot.");
}

template <class Model, class Data>
auto the_model_takes_no_ids() {
  static_assert(sizeof(Model) == 0,
                "Sinter: the data gives ids, and the model takes none. What: Model and Data are in "
                "this error. Why: the model's trace() asks for numbers alone, so that no batch of "
                "this data could fit it. Fix: a model of ids, such as Gpt2, for text; for classes "
                "of numbers a classifier, such as Mlp<{.classifier = true}>; for numbers data "
                "without a vocabulary, such as Rows, which is the default.");
}

template <class Recipe, Text Rule, Text Instruction, int Position>
auto the_program_is_wrong() {
  static_assert(sizeof(Recipe) == 0,
                "Sinter: the verifier rejects this recipe's program. The rule, the instruction "
                "that breaks it and its position are in this error. Why: a policy removed, forgot "
                "or misplaced an instruction. Fix: correct the policy's rewrite(); "
                "Plan<Recipe>::program is the list.");
}

template <class Recipe, Text Rule, int Position>
auto the_forward_program_is_wrong() {
  static_assert(
      sizeof(Recipe) == 0,
      "Sinter: the verifier rejects this recipe's program of evaluation or prediction. The "
      "rule and the position of the instruction that breaks it are in this error. Why: a "
      "policy removed, forgot or misplaced an instruction. Fix: correct the policy's "
      "rewrite_forward().");
}

template <class Recipe, int Ranks, Text Rule, int Rank, Text Instruction, int Position,
          int OtherRank, Text OtherInstruction, int OtherPosition>
auto the_ranks_do_not_fit_together() {
  static_assert(
      sizeof(Recipe) == 0,
      "Sinter: the programs of this recipe's ranks do not fit together. The number of "
      "Ranks, the Rule, and of two ranks the instruction and its position are in this "
      "error. Why: a step would wait for ever, or take one array for another. Fix: "
      "correct the policy's rewrite(), or the traffic that the instruction's kind states; "
      "sinter/proof/simulate.hpp says how ranks meet.");
}

}  // namespace sinter::detail
