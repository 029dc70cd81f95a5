// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/api/model.h"

namespace tapescope::plugins {

// One per source file of this pack.
ModelEntry digitsMlp();
ModelEntry digitsCnn();
ModelEntry mnistCnn();
ModelEntry lenet();
ModelEntry resnet18();
ModelEntry resnet50();
ModelEntry gpt();
ModelEntry lstmLm();
ModelEntry bert();
ModelEntry unet();
ModelEntry vae();
ModelEntry gan();
ModelEntry detector();

}  // namespace tapescope::plugins
