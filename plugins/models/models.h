// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/api/model.h"

namespace tapescope::plugins {

// One per source file of this pack.
ModelEntry digitsMlp();
ModelEntry digitsCnn();
ModelEntry mnistCnn();

}  // namespace tapescope::plugins
