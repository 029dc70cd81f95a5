// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/common/theme.h"

#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>

#include <gtest/gtest.h>

// One QApplication for all tests, on the offscreen platform, with settings and data folders of its
// own: a test run must neither see nor change the user's.
int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    const QTemporaryDir home;
    qputenv("XDG_CONFIG_HOME", home.filePath(QStringLiteral("config")).toUtf8());
    qputenv("XDG_DATA_HOME", home.filePath(QStringLiteral("data")).toUtf8());
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    // Models that the tests start share few cores with other tests: threads that wait must sleep.
    qputenv("OMP_WAIT_POLICY", "passive");
    QApplication app(argc, argv);
    QCoreApplication::setOrganizationName(QStringLiteral("tapescope"));
    QCoreApplication::setApplicationName(QStringLiteral("workbench-test"));
    tapescope::viewers::Theme::current().apply(tapescope::viewers::Theme::Mode::Dark);
    return RUN_ALL_TESTS();
}
