# SPDX-License-Identifier: Apache-2.0
# Tests of kernels that know no device, tests/unit/kernels/NAME.cpp: they also run on the emulated device
# (CMakeLists.txt) and on a card (bench/gpu).
set(neutral activation adafactor adamw8bit attention attention_windows bf16_attention binary_cross_entropy
  cached_attention
  cross_attention decision dropout elementwise embedding layer_norm loss norm optimizer random rms_norm rotary
  rows_and_columns swiglu)
