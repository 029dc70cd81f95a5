// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/api/model.h"

namespace tapescope::plugins {

/// digits-mlp, digits-cnn, mnist-cnn, lenet, resnet18, resnet50, gpt, lstm-lm, bert, unet, vae,
/// gan, detector.
void registerModelPack(ModelRegistry& registry);

}  // namespace tapescope::plugins
