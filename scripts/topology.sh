# SPDX-License-Identifier: Apache-2.0
# The verb topology; sourced by ./sinter.

# With two cards or more, trains GPT-2 124M on the first two, as they are linked and with peer-to-peer
# off, so that all goes through the host's memory, turn by turn (bench/gpu/ddp.cpp).
compare_links() {  # STEPS
  local turn
  set_up bench
  set_up_cuda
  configure cuda -DSINTER_RECIPE_FILES=
  compile --target bench_gpu_ddp
  for turn in 1 2; do
    echo 'Peer-to-peer on (NVLink, or PCIe where the cards allow it):'
    "$build/bin/bench_gpu_ddp" "$1"
    echo 'Peer-to-peer off (NCCL_P2P_DISABLE=1):'
    NCCL_P2P_DISABLE=1 "$build/bin/bench_gpu_ddp" "$1"
  done
}

verb_topology() {
  local compare=no cards
  if [[ ${1:-} == --compare ]]; then compare=yes; shift; fi
  (($# == 0)) || die "topology takes --compare and nothing else: $*"
  have nvidia-smi || die "nvidia-smi is not here. It comes with NVIDIA's driver, and knows what links GPUs:" \
    "install the driver, or look on the machine that has them."
  cards=$(nvidia-smi --list-gpus) || die "nvidia-smi finds no GPU; its message is above."
  cards=$(grep -c '^GPU ' <<<"$cards") || true
  nvidia-smi topo -m || die "nvidia-smi could not print what links the GPUs; its message is above."
  if [[ $compare == yes ]]; then
    ((cards >= 2)) || die "--compare needs two GPUs, and there is ${cards:-none}."
    compare_links 50
  elif ((cards >= 2)); then
    say 'sinter: ./sinter topology --compare measures what the link between the first two is worth.'
  fi
}
