// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonObject>
#include <QSize>
#include <QString>
#include <QStringList>

#include <optional>

namespace tapescope::app {

/// The command line of tapescope-workbench.
struct WorkbenchOptions {
    QStringList paths;  ///< tapes and folders to open
    QString model;      ///< --run
    qint64 steps = 0;   ///< 0: the model's default
    qint64 seed = 0;
    QJsonObject settings;  ///< --set name=value
    QString dataDir;
    QString tape;        ///< --tape: where --run records to
    QStringList breaks;  ///< --break
    QString connectHost;
    quint16 connectPort = 0;

    QString shot;  ///< "debug", "curves", "timeline"; empty: a window
    QString output;
    QSize size{1280, 800};
    QString theme;  ///< "dark", "light"; empty: as remembered
    qint64 step = -1;
    qint64 node = -1;

    bool help = false;
    bool version = false;
};

/// Null if the words cannot be meant: error says why and what would be right (exit status 2).
std::optional<WorkbenchOptions> parseOptions(const QStringList& words, QString& error);
QString usageText();

}  // namespace tapescope::app
