// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/program_path.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

namespace tapescope::app {

QString siblingProgram(const QString& name) {
    const QFileInfo beside(QDir(QCoreApplication::applicationDirPath()), name);
    if (beside.isExecutable()) return beside.absoluteFilePath();
    const QString onPath = QStandardPaths::findExecutable(name);
    return onPath.isEmpty() ? name : onPath;
}

QString defaultRunsFolder() {
    return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) +
           QStringLiteral("/runs");
}

QString newTapePath(const QString& folder, const QString& model) {
    const QString stem = QDir(folder).filePath(
        model + QLatin1Char('-') +
        QDateTime::currentDateTime().toString(QStringLiteral("yyyyMMdd-HHmmss")));
    QString path = stem + QStringLiteral(".tape");
    for (int i = 2; QFileInfo::exists(path); ++i)
        path = QStringLiteral("%1-%2.tape").arg(stem).arg(i);
    return path;
}

}  // namespace tapescope::app
