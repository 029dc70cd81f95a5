// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/common/theme.h"

#include "viewers/common/icons.h"

#include <QApplication>
#include <QDirIterator>
#include <QImage>
#include <QSignalSpy>

#include <cmath>
#include <gtest/gtest.h>

namespace tapescope::viewers {
namespace {

double luminance(const QColor& c) {
    const auto linear = [](double v) {
        return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
}

/// WCAG 2 contrast, 1 … 21.
double contrast(const QColor& a, const QColor& b) {
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

class ThemeTest : public ::testing::TestWithParam<Theme::Mode> {
protected:
    void SetUp() override { Theme::current().apply(GetParam()); }
    void TearDown() override { Theme::current().apply(Theme::Mode::Dark); }
};

TEST_P(ThemeTest, TextIsReadableOnEverySurface) {
    const Theme& theme = Theme::current();
    for (const Theme::Role surface : {Theme::Window, Theme::Panel, Theme::Raised, Theme::Field}) {
        EXPECT_GE(contrast(theme.color(Theme::Text), theme.color(surface)), 7) << surface;
        EXPECT_GE(contrast(theme.color(Theme::Muted), theme.color(surface)), 4.5) << surface;
        for (const Theme::Role colored : {Theme::Accent, Theme::Good, Theme::Warning, Theme::Bad})
            EXPECT_GE(contrast(theme.color(colored), theme.color(surface)), 3.9)
                << surface << ' ' << colored;
    }
    EXPECT_GE(contrast(theme.color(Theme::OnAccent), theme.color(Theme::Accent)), 4.5);
}

TEST_P(ThemeTest, TextOnACategoryIsReadable) {
    const Theme& theme = Theme::current();
    for (int i = 0; i <= static_cast<int>(Category::Error); ++i) {
        const QColor fill = theme.color(static_cast<Category>(i));
        EXPECT_GE(contrast(Theme::textOn(fill), fill), 4.4) << i;
    }
}

TEST_P(ThemeTest, SeriesStandOutFromThePlotAndDiffer) {
    const Theme& theme = Theme::current();
    for (int i = 0; i < 16; ++i) {
        EXPECT_GE(contrast(theme.series(i), theme.color(Theme::Field)), 1.8) << i;
        for (int k = 0; k < i; ++k) EXPECT_NE(theme.series(i), theme.series(k));
    }
}

TEST_P(ThemeTest, MapsAreOrderedAndKeepNaNApart) {
    const Theme& theme = Theme::current();
    for (int i = 1; i <= 20; ++i)
        EXPECT_GT(luminance(QColor(theme.sequential(i / 20.0))),
                  luminance(QColor(theme.sequential((i - 1) / 20.0))));
    EXPECT_EQ(theme.sequential(-3), theme.sequential(0));
    EXPECT_EQ(theme.sequential(NAN), theme.color(Theme::NaN).rgb());
    EXPECT_EQ(theme.diverging(NAN), theme.color(Theme::NaN).rgb());
    // Blue below 0, red above.
    EXPECT_GT(qBlue(theme.diverging(-0.6)), qRed(theme.diverging(-0.6)));
    EXPECT_GT(qRed(theme.diverging(0.6)), qBlue(theme.diverging(0.6)));
}

TEST_P(ThemeTest, AppliesToTheApplicationAndTellsWhoListens) {
    QSignalSpy changed(&Theme::current(), &Theme::changed);
    Theme::current().apply(GetParam());
    EXPECT_EQ(changed.size(), 1);
    EXPECT_EQ(QApplication::palette().color(QPalette::Base), Theme::current().color(Theme::Field));
    const int before = QApplication::font().pixelSize();
    Theme::current().setTextScale(1.5);
    EXPECT_GT(QApplication::font().pixelSize(), before);
    Theme::current().setTextScale(1);
    EXPECT_EQ(QApplication::font().pixelSize(), before);
}

INSTANTIATE_TEST_SUITE_P(Both, ThemeTest, ::testing::Values(Theme::Mode::Light, Theme::Mode::Dark),
                         [](const auto& mode) {
                             return mode.param == Theme::Mode::Dark ? "Dark" : "Light";
                         });

TEST(Icons, EveryOneDrawsSomethingInTheGivenColour) {
    Theme::current();
    QDirIterator files(QStringLiteral(":/tapescope/icons"));
    int count = 0;
    while (files.hasNext()) {
        const QString name = files.nextFileInfo().completeBaseName();
        ++count;
        if (name == QLatin1String("app")) continue;
        const QImage image = icon(name, QColor(Qt::red)).pixmap(32, 32).toImage();
        int painted = 0;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                painted +=
                    image.pixelColor(x, y).alpha() > 128 && image.pixelColor(x, y).red() > 200;
        EXPECT_GT(painted, 15) << name.toStdString();
    }
    EXPECT_GT(count, 50);
    EXPECT_FALSE(appIcon().isNull());
}

}  // namespace
}  // namespace tapescope::viewers
