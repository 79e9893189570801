# SPDX-License-Identifier: Apache-2.0
# A project made by ./sinter new, in an empty account, with all of Sinter compiled from its source tree as a part of it.
. "$root/tests/install/project.bash"

new_project my_reader
build_project "$scratch/my_reader"
expect 0 build/release/my_reader describe
says 'small_reader: Reader'
