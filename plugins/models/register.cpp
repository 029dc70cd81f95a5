// SPDX-License-Identifier: Apache-2.0
#include "plugins/models/register.h"

#include "plugins/models/models.h"

namespace tapescope::plugins {

void registerModelPack(ModelRegistry& registry) {
    registry.add(digitsMlp());
    registry.add(digitsCnn());
    registry.add(mnistCnn());
}

}  // namespace tapescope::plugins
