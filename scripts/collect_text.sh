#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copies the default text into a folder: the hand-written C++ headers that come with LibTorch.
#   bash scripts/collect_text.sh LIBTORCH/include DESTINATION
# Third parties' headers are left out, and so are those that a program wrote: thousands of
# near-copies, which would leak from training into validation. The latter lie in ATen/ops or in
# folders named generated, bear that word in their name, or say it in their first lines; two say
# nothing and are named here.
set -euo pipefail
include=$1
destination=$2

mkdir -p "$(dirname "$destination")"
temporary=$(mktemp -d "$destination.XXXXXX")
trap 'rm -rf "$temporary"' EXIT

cd "$include"
find ATen c10 caffe2 torch -type f \( -name '*.h' -o -name '*.hpp' -o -name '*.cuh' \) \
  ! -path 'ATen/ops/*' ! -path '*/generated/*' ! -name '*[Gg]enerated*' \
  ! -path ATen/core/TensorBody.h ! -path ATen/RegistrationDeclarations.h -print0 |
  xargs -0 awk '
    FNR == 1 { if (file != "" && !generated) printf "%s%c", file, 0; file = FILENAME; generated = 0 }
    FNR <= 12 && tolower($0) ~ /@generated|auto-?generated|automatically generated/ { generated = 1 }
    END { if (!generated) printf "%s%c", file, 0 }' |
  xargs -0 cp --parents -t "$temporary"
chmod -R u=rwX,go=rX "$temporary"

# Another process may have been faster; it has written the same.
mv -T "$temporary" "$destination" 2>/dev/null || [[ -d $destination ]]
