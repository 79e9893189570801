// SPDX-License-Identifier: Apache-2.0
#include "cli/other_words.hpp"

#include <algorithm>

namespace sinter::detail::cli {
namespace {

constexpr OtherWord rows[] = {
    // Accepted, wherever the verb and the recipe have the flag.
    {"lr learning_rate learningrate base_lr max_lr", "optimizer.lr"},
    {"weight_decay wd", "optimizer.weight_decay"},
    {"beta1 beta_1 adam_beta1", "optimizer.beta1"},
    {"beta2 beta_2 adam_beta2", "optimizer.beta2"},
    {"eps epsilon adam_epsilon adam_eps", "optimizer.eps"},
    {"momentum", "optimizer.momentum"},
    {"warmup warmup_steps warmup_iters num_warmup_steps warmup_updates lr_warmup_steps",
     "schedule.warmup"},
    {"lr_decay_steps lr_decay_iters", "schedule.steps"},
    {"max_grad_norm gradient_clip_val grad_clip gradient_clip clip_grad_norm clip_grad",
     "clipping.max"},
    {"global_batch_size batchsize", "batch.global"},
    {"max_steps num_steps total_steps max_iters num_iters train_iters iterations max_train_steps "
     "num_train_steps training_steps",
     "--steps"},
    {"num_epochs num_train_epochs max_epochs n_epochs epoch", "--epochs"},
    {"eval_steps eval_interval val_interval eval_freq "
     "validation_every_n_steps validate_every",
     "--eval-every"},
    {"validation_file validation_files validation_data validation_path validation_dir "
     "validation_dataset val_data val_file val_files val_path val_dir val_dataset valid valid_data "
     "valid_file valid_path valid_dir valid_set dev_data dev_file dev_path dev_set eval_data "
     "eval_file eval_files eval_path eval_dataset eval_data_path eval_data_file",
     "--validation"},
    {"early_stopping early_stopping_patience early_stop_patience patience validation_patience "
     "max_patience",
     "--early-stop"},
    {"metric_for_best_model validation_metric best_metric best_model_metric monitor "
     "best_checkpoint_metric early_stopping_metric",
     "--best-by"},
    {"config_file config_path cfg_file init_opt opt_file json_config", "--config"},
    {"show_config dump_config", "--print-config"},
    {"save_steps save_interval save_freq checkpoint_every checkpoint_interval every_n_train_steps",
     "--save-every"},
    {"save_total_limit", "--keep"},
    {"output_dir out_dir save_dir output output_path run_dir", "--out"},
    {"data_dir data_path dataset dataset_path train_file train_data train_files input_file",
     "--data"},
    {"num_workers dataloader_num_workers n_workers", "--workers"},
    {"num_threads n_threads cpu_threads", "--threads"},
    {"random_seed manual_seed", "--seed"},
    {"tokenizer_path tokenizer_file tokenizer_dir", "--tokenizer"},
    {"max_new_tokens num_tokens n_predict max_tokens", "--tokens"},
    {"topk", "--top-k"},
    {"topp nucleus", "--top-p"},
    {"min_new_tokens min_length", "--min-tokens"},
    {"stop_strings stop_words stop_sequences", "--stop"},
    {"no_repeat_ngram", "--no-repeat-ngram-size"},
    {"beam_block_ngram", "--no-repeat-written-ngram-size"},
    {"beam_context_block_ngram encoder_no_repeat_ngram_size", "--no-repeat-prompt-ngram-size"},
    {"num_beams beam_size", "--beams"},
    {"num_return_sequences", "--results"},
    {"vocab_size vocabulary_size n_vocab", "--size model.vocabulary"},
    // Parts of a model are options of the recipe's type.
    {"num_layers n_layers n_layer layers num_hidden_layers depth",
     "model.layers model.encoder_layers"},
    {"num_heads n_heads n_head num_attention_heads heads", "model.heads"},
    {"hidden_size n_embd d_model embedding_size embed_dim dim width hidden_dim model_dim",
     "model.width model.hidden"},
    {"ffn_size intermediate_size d_ff", "model.hidden"},
    {"block_size seq_len seq_length sequence_length max_seq_length max_seq_len context_length "
     "context_size n_ctx context max_length",
     "data.context"},
    {"text_truncate", "data.text"},
    {"label_truncate", "data.label"},
    {"history_size", "data.history"},
    {"dropout", "model.dropout"},
    {"attention_dropout", "model.attention_dropout"},
    // A flag that may not be meant.
    {"batch_size train_batch_size bs batch", "batch.global",
     "A batch has two numbers here: Batch<{.global, .micro}> makes a step of `global` sequences "
     "and computes `micro` of them at once"},
    {"per_device_train_batch_size micro_batch_size device_batch_size", "",
     "The recipe's Batch<{.micro}> is how many sequences are computed at once, on each rank. "
     "Change it in the recipe's file and build again"},
    {"gradient_accumulation_steps accumulate_grad_batches grad_accum grad_accumulation_steps "
     "accumulation_steps update_freq",
     "batch.global",
     "A step accumulates by itself: it computes the `global` sequences of the recipe's "
     "Batch<{.global, .micro}> `micro` at a time, on each rank"},
    {"per_device_eval_batch_size eval_batch_size eval_batchsize", "",
     "Evaluation is planned: it takes as many sequences at once as fit into the memory of a "
     "training step"},
    {"warmup_ratio warmup_fraction", "schedule.warmup",
     "The schedule's warm-up is a number of steps, not a share of them"},
    {"min_lr lr_min eta_min end_lr", "schedule.floor",
     "The schedule's floor is a share of the highest learning rate, not a rate"},
    {"early_stopping_threshold early_stopping_min_delta min_delta", "",
     "By how much an evaluation must be better is the recipe's EarlyStop<{.patience, .min_delta}>. "
     "Change it in the recipe's file and build again"},
    {"val_split valid_split validation_split val_fraction validation_fraction val_size valid_size "
     "validation_split_percentage",
     "--validation",
     "The last tenth of --data is held out and evaluated. --validation PATH names other data in "
     "its place, and --validation held-out NAME=PATH beside it"},
    {"resume_from_checkpoint resume_from resume_path", "--resume --weights",
     "--resume goes on from the newest checkpoint in --out PATH and takes no path; --weights PATH "
     "starts a new run from weights"},
    {"checkpoint ckpt ckpt_path checkpoint_path load init_model init_from pretrained "
     "model_name_or_path model_path model_file pretrained_model_name_or_path",
     "--weights",
     "The recipe is the model's shape; `./sinter recipe FOLDER FILE.cpp` writes one that fits a "
     "folder of Hugging Face's. --weights PATH takes the weights of a checkpoint, a run or such a "
     "folder"},
    {"tokenizer_name tokenizer_name_or_path dict_file", "--tokenizer",
     "--tokenizer PATH takes a file or folder that is on this machine, and downloads nothing"},
    // Slots of the recipe.
    {"precision dtype mixed_precision fp16 bf16 tf32 fp32 amp autocast half", "precision",
     "Fp32, Bf16, Fp16 or Tf32"},
    {"optimizer optim optimiser optimizer_type", "optimizer",
     "AdamW, Adam, AdamW8bit, Adafactor, Lion, Sgd or Muon"},
    {"scheduler lr_scheduler lr_scheduler_type lr_schedule lr_decay_style decay_lr", "schedule",
     "Constant, LinearDecay, CosineDecay, CosineRestarts, PolynomialDecay, InverseSqrt, "
     "WarmupStableDecay or Plateau"},
    {"gradient_checkpointing activation_checkpointing recompute checkpoint_activations", "memory",
     "Checkpoint, Budget or Offload; the default keeps all activations"},
    {"ddp fsdp deepspeed zero zero_stage ddp_backend strategy distributed_backend "
     "distributed_strategy sharding",
     "parallel", "Ddp or Zero; `./sinter launch -n N BINARY` starts N ranks"},
    {"nproc_per_node num_nodes nnodes world_size num_processes n_procs", "parallel",
     "Ddp or Zero; `./sinter launch -n N BINARY` starts N ranks"},
    {"cuda gpu gpus device devices accelerator use_gpu no_cuda use_cpu", "device",
     "Cpu or Cuda; `./sinter build --cuda FILE.cpp` builds a recipe for a GPU"},
    {"group_by_length packing pack sample_packing dynamic_batching padding", "batching",
     "Packed, Padded, LengthGrouped or DynamicBatch"},
    {"mlm mlm_probability", "objective", "MaskedLm or the prediction of the next token"},
    {"model arch architecture model_type", "model",
     "a model of docs/policies.md, or one of your own"},
    // Sentences.
    {"logging_steps log_interval log_every log_every_n_steps", "",
     "Each step has a row in metrics.jsonl in the run's folder"},
    {"report_to wandb wandb_project logger logging_dir log_dir tensorboard_dir", "--tensorboard",
     "`report RUN…` makes a page with the curves of runs, and --tensorboard writes an event file "
     "into the run's folder"},
    {"load_best_model_at_end load_best save_best save_best_only save_best_model", "",
     "The best checkpoint is always kept, and `eval`, `predict`, `generate` and `export` take it "
     "from --weights RUN; RUN@last is the last one"},
    {"greater_is_better maximize_best_checkpoint_metric validation_metric_mode monitor_mode", "",
     "A metric says by itself whether more is better; --best-by NAME chooses one"},
    {"eval_strategy evaluation_strategy", "--eval-every",
     "--eval-every N evaluates after every N steps and after the last; 0 never does"},
    {"save_strategy", "--save-every",
     "--save-every N saves after every N steps and after the last; 0 saves only then"},
    {"do_train do_eval do_predict mode", "",
     "The first word says what to do: `--help` lists verbs"},
    {"compile torch_compile use_compile", "",
     "A step is always a constant program, which was planned as the recipe was compiled"},
    {"deterministic", "", "The same seed, data and threads always give the same bits"},
    {"pin_memory dataloader_pin_memory", "", "The host's memory is pinned wherever there is a GPU"},
    {"overwrite_output_dir overwrite", "", "A run's folder is never overwritten"},
    {"disable_tqdm no_progress silent", "--quiet", "--quiet prints only results and errors"},
    {"dry_run fast_dev_run", "--steps",
     "`describe` shows the memory and the plan without training, and --steps 1 takes one step"},
    {"push_to_hub hub_model_id", "",
     "`export` writes a folder of Hugging Face's, and nothing is "
     "sent anywhere"},
    {"do_sample sample greedy", "--temperature",
     "Tokens are drawn unless --temperature is 0, which takes the likeliest"},
    {"max_time time_limit", "",
     "A run has no limit of time; `timeout -s TERM SECONDS BINARY train …` stops it after a whole "
     "step, with a checkpoint to resume from"},
};

}  // namespace

std::span<const OtherWord> other_words() { return rows; }

const OtherWord* find_other_word(std::string_view typed) {
  std::string word(last_part(typed));
  std::ranges::replace(word, '-', '_');
  if (word.empty()) return nullptr;
  for (const OtherWord& row : rows)
    for (std::string_view one : split_words(row.words))
      if (one == word) return &row;
  return nullptr;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::vector<std::string> spellings(std::string_view word) {
  std::vector<std::string> both{"--" + std::string(word)};
  if (word.find('_') == word.npos) return both;
  both.push_back(both.front());
  std::ranges::replace(both.front(), '_', '-');
  return both;
}

std::string_view last_part(std::string_view flag) {
  flag.remove_prefix(std::min(flag.find_first_not_of('-'), flag.size()));
  return flag.substr(flag.rfind('.') + 1);  // npos + 1 is 0
}

}  // namespace sinter::detail::cli
