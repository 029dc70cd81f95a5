// SPDX-License-Identifier: Apache-2.0
#include "plugins/models/register.h"

#include "plugins/models/models.h"

namespace tapescope::plugins {

void registerModelPack(ModelRegistry& registry) {
    registry.add(digitsMlp());
    registry.add(digitsCnn());
    registry.add(mnistCnn());
    registry.add(lenet());
    registry.add(resnet18());
    registry.add(resnet50());
    registry.add(gpt());
    registry.add(lstmLm());
    registry.add(bert());
    registry.add(unet());
    registry.add(vae());
    registry.add(gan());
    registry.add(detector());
}

}  // namespace tapescope::plugins
