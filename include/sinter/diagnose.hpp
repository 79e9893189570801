// Compile errors for people. A soft answer (a bool) drives the code; the message is a function that
// is named but never called: one error comes, with the user's line in it, and nothing cascades.
#pragma once
#include "call.hpp"

namespace sinter {

template <class Layer, int Gives, int Takes>
auto two_layers_do_not_fit() {
  static_assert(Gives == Takes,
                "Sinter: two layers do not fit. What: Layer takes values as wide as Takes, the "
                "value joined here is as wide as Gives; all three are in this error. Why: widths "
                "are part of the type; nothing is padded or cut. Fix: change the layer's input "
                "width, or put a Linear<Gives, Takes> between.");
}

template <class Layer, class P>
auto layer_lacks_backward() {
  static_assert(Differentiable<Layer, P>,
                "Sinter: this layer has forward() but no backward(). Why: the training step calls "
                "both; there is no autograd behind it. Fix: write static void backward(auto& c) "
                "that sets c.dx() from c.dy().");
}

template <class Slot, class Claimants>
auto two_policies_claim_one_slot() {
  static_assert(Claimants::count <= 1,
                "Sinter: two policies claim one slot; the slot and both policies are named in this "
                "error. Why: the recipe would be ambiguous, and Sinter never picks silently. Fix: "
                "keep one of them.");
}

template <class Recipe>
auto recipe_lacks_a_model() {
  static_assert(sizeof(Recipe) == 0,
                "Sinter: this recipe has no model. Why: there is nothing to train; no model is the "
                "default. Fix: add one, such as Gpt2<{.layers = 4, .heads = 4, .width = 128}> or "
                "Mlp<{.in = 8, .hidden = 64, .out = 1}>.");
}

/// A rule of the verifier, the instruction that broke it and its position: in the error, as it is
/// part of a type.
struct BrokenRule {
  char rule[64]{}, instruction[24]{};
  int position = 0;

  constexpr BrokenRule(const char* what, const char* name, int at) : position(at) {
    for (int k = 0; k < 63 && what[k]; ++k) rule[k] = what[k];
    for (int k = 0; k < 23 && name[k]; ++k) instruction[k] = name[k];
  }
};

template <class Recipe, BrokenRule Broken>
auto the_program_is_wrong() {
  static_assert(Broken.rule[0] == 0,
                "Sinter: the verifier rejects this recipe's program. The rule, the instruction "
                "that breaks it and its position are in this error. Why: a policy removed, forgot "
                "or misplaced an instruction. Fix: correct the policy's rewrite(); "
                "Plan<Recipe>::program is the list.");
}

}  // namespace sinter
