// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/timeline_model.h"

#include <QList>
#include <QString>

namespace tapescope::viewers {

/// One line of what is known of an event.
struct EventField {
    QString label;
    QString value;
    QString exact;  ///< for the hover; may be empty
};

QString eventTitle(const TimelineData& data, EventRef event);
/// "12" of "step 12", for a place too narrow for more; empty if a title is not of that kind.
QString numberOf(const QString& title);
/// "operator", "module", "step", …
QString eventKindText(const TimelineData& data, EventRef event);
/// Lane's name: "main", or "thread 2".
QString laneText(const TimelineData& data, std::uint32_t lane);
QString rowKindText(RowKind kind);
/// All that is known, the most wanted first. graph: that of the event's step, or null; it knows
/// shapes and attributes.
QList<EventField> eventFields(const TimelineData& data, EventRef event,
                              const storage::Graph* graph);

}  // namespace tapescope::viewers
