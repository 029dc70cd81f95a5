// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/common/theme.h"

#include <QApplication>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    ::testing::InitGoogleTest(&argc, argv);
    QApplication app(argc, argv);
    QApplication::setApplicationName(QStringLiteral("viewers_test"));
    tapescope::viewers::Theme::current().apply(tapescope::viewers::Theme::Mode::Dark);
    return RUN_ALL_TESTS();
}
