// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/api/model.h"

namespace tapescope::plugins {

/// digits-mlp, digits-cnn, mnist-cnn.
void registerModelPack(ModelRegistry& registry);

}  // namespace tapescope::plugins
