# SPDX-License-Identifier: Apache-2.0
# topology, with programs that play NVIDIA's.
. "$root/tests/script/lib/check.bash"
path=$(path_without nvidia-smi)
export PATH=$path

expect 1 "$sinter" topology --all
says 'topology takes --compare and nothing else: --all'
expect 1 "$sinter" topology
says 'nvidia-smi is not here'

fake nvidia-smi <<'FAKE'
echo 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.'
exit 9
FAKE
expect 1 "$sinter" topology
says 'nvidia-smi finds no GPU'

fake nvidia-smi <<'FAKE'
if [[ $1 == --list-gpus ]]; then echo 'GPU 0: NVIDIA H100 (UUID: GPU-1)'; else echo "the table of $*"; fi
FAKE
expect 0 "$sinter" topology
says 'the table of topo -m'
is_silent_about '--compare'
expect 1 "$sinter" topology --compare
says '--compare needs two GPUs, and there is 1'

fake nvidia-smi <<'FAKE'
if [[ $1 == --list-gpus ]]; then printf 'GPU %s: NVIDIA H100 (UUID: GPU-%s)\n' 0 1 1 2; else echo "the table of $*"; fi
FAKE
expect 0 "$sinter" topology
says './sinter topology --compare measures'
