// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/timeline/event_text.h"

namespace tapescope::viewers {

/// "kernel", "copy", "runtime call", "NVTX range", …
QString gpuKindText(const TimelineData& data, EventRef event);
/// All that is known of an event of the GPU record, the most wanted first.
QList<EventField> gpuFields(const TimelineData& data, EventRef event);

}  // namespace tapescope::viewers
