// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHash>
#include <QString>
#include <QStringList>

#include <vector>

namespace tapescope::viewers {

/// Which tags share a chart. Pure functions.

/// "loss" for train/loss, val/loss, test/loss …; a tag without such a prefix is its own chart.
QString defaultChart(const QString& tag);
/// Is it measured on data the model does not train on (drawn dashed beside the training tag)?
bool isHeldOut(const QString& tag);

struct ChartPlan {
    QString title;
    QStringList tags;
};
/// The charts of these tags, loss first, then accuracy, then by name; `chosen` overrides the
/// default chart of a tag.
std::vector<ChartPlan> planCharts(QStringList tags, const QHash<QString, QString>& chosen);

}  // namespace tapescope::viewers
