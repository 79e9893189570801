// SPDX-License-Identifier: Apache-2.0
// What the cases here are compiled with; see CMakeLists.txt.
#include "sinter/plan/plan.hpp"
