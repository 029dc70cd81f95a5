// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/source/source_view.h"

#include "viewers/common/empty_state.h"
#include "viewers/common/theme.h"
#include "viewers/source/cpp_highlighter.h"
#include "viewers/source/source_editor.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QTest>
#include <QTextBlock>
#include <QTextLayout>

#include <gtest/gtest.h>

namespace tapescope::viewers {
namespace {

std::string numbered(int lines) {
    std::string text;
    for (int i = 1; i <= lines; ++i) text += "call(" + std::to_string(i) + ");\n";
    return text;
}

class SourceViewTest : public ::testing::Test {
protected:
    SourceViewTest() {
        view.resize(700, 500);
        view.setSources({{"plugins/models/digits_cnn.cpp", numbered(200)},
                         {"plugins/models/digits_mlp.cpp", "int x = 1;\n"}});
        view.show();
        editor = view.findChild<SourceEditor*>();
        QCoreApplication::processEvents();
    }
    /// Middle of a line in the gutter's dot column.
    QPoint gutterAt(int line) const {
        const QTextCursor cursor(editor->document()->findBlockByNumber(line - 1));
        return {11, editor->cursorRect(cursor).center().y()};
    }
    QColor gutterColour(const QPoint& p) const {
        return editor->gutter()->grab().toImage().pixelColor(p);
    }

    SourceView view;
    SourceEditor* editor = nullptr;
};

TEST_F(SourceViewTest, ClickInTheGutterAndF9AskForABreakpointOnThatLine) {
    QSignalSpy toggled(&view, &SourceView::breakpointToggled);
    QTest::mouseClick(editor->gutter(), Qt::LeftButton, {}, gutterAt(4));
    ASSERT_EQ(toggled.count(), 1);
    EXPECT_EQ(toggled[0], (QVariantList{QStringLiteral("plugins/models/digits_cnn.cpp"), 4}));
    ASSERT_TRUE(view.showLine(QStringLiteral("digits_cnn.cpp"), 7));
    QTest::keyClick(editor, Qt::Key_F9);
    EXPECT_EQ(toggled[1][1].toInt(), 7);
    QTest::keyClick(editor, Qt::Key_Down);
    QTest::keyClick(editor, Qt::Key_F9);
    EXPECT_EQ(toggled[2][1].toInt(), 8);
}

TEST_F(SourceViewTest, ClickFarBelowTheTextDoesNothing) {
    view.showLine(QStringLiteral("digits_mlp.cpp"), 1);
    QSignalSpy toggled(&view, &SourceView::breakpointToggled);
    QTest::mouseClick(editor->gutter(), Qt::LeftButton, {}, {10, editor->gutter()->height() - 5});
    EXPECT_EQ(toggled.count(), 0);
}

TEST_F(SourceViewTest, DrawsBreakpointsBySuffixOfTheirPath) {
    const Theme& theme = Theme::current();
    EXPECT_NE(gutterColour(gutterAt(3)), theme.color(Theme::Bad));
    SourceBreakpoint on;
    on.line = 3;
    SourceBreakpoint unverified = on;
    unverified.line = 5;
    unverified.verified = false;
    SourceBreakpoint off = on;
    off.line = 6;
    off.enabled = false;
    view.setBreakpoints(QStringLiteral("/somewhere/else/models/digits_cnn.cpp"), {});
    EXPECT_NE(gutterColour(gutterAt(3)), theme.color(Theme::Bad));
    view.setBreakpoints(QStringLiteral("models/digits_cnn.cpp"), {on, unverified, off});
    EXPECT_EQ(gutterColour(gutterAt(3)), theme.color(Theme::Bad));
    EXPECT_EQ(gutterColour(gutterAt(5)), theme.color(Theme::Panel));  // hollow
    EXPECT_EQ(gutterColour(gutterAt(6)), theme.color(Theme::Disabled));
    view.setBreakpoints(QStringLiteral("models/digits_cnn.cpp"), {});
    EXPECT_NE(gutterColour(gutterAt(3)), theme.color(Theme::Bad));
}

TEST_F(SourceViewTest, ShowsWhereTheRunStandsAndKeepsItForASourceYetToCome) {
    EXPECT_TRUE(view.setCurrentLine(QStringLiteral("models/digits_cnn.cpp"), 120));
    EXPECT_EQ(editor->currentLine(), 120);
    EXPECT_EQ(view.cursorLine(), 120);
    EXPECT_TRUE(editor->gutter()->rect().contains(gutterAt(120)));  // scrolled to
    EXPECT_EQ(gutterColour(gutterAt(120)), Theme::current().color(Category::Stopped));
    view.clearCurrentLine();
    EXPECT_EQ(editor->currentLine(), 0);
    EXPECT_FALSE(view.setCurrentLine(QStringLiteral("models/resnet.cpp"), 2));
    view.addSource(QStringLiteral("src/models/resnet.cpp"), QStringLiteral("a\nb\nc\n"));
    EXPECT_EQ(view.currentFile(), QStringLiteral("src/models/resnet.cpp"));
    EXPECT_EQ(editor->currentLine(), 2);
}

TEST_F(SourceViewTest, TellsOnlyOfTheUsersOwnMoves) {
    QSignalSpy chosen(&view, &SourceView::lineChosen);
    view.showLine(QStringLiteral("digits_cnn.cpp"), 30);
    view.setCurrentLine(QStringLiteral("digits_cnn.cpp"), 40);
    EXPECT_EQ(chosen.count(), 0);
    QTest::keyClick(editor, Qt::Key_Up);
    ASSERT_EQ(chosen.count(), 1);
    EXPECT_EQ(chosen[0][1].toInt(), 39);
    QTest::keyClick(editor, Qt::Key_Right);  // same line
    EXPECT_EQ(chosen.count(), 1);
}

TEST_F(SourceViewTest, FindsStepsAndWrapsAround) {
    QTest::keyClick(editor, Qt::Key_F, Qt::ControlModifier);
    auto* text = view.findChild<QLineEdit*>(QStringLiteral("sourceFind"));
    auto* state = view.findChild<QLabel*>(QStringLiteral("sourceFindState"));
    ASSERT_TRUE(text->hasFocus());
    QTest::keyClicks(text, QStringLiteral("CALL(19"));
    EXPECT_EQ(state->text(), QStringLiteral("11"));  // 19 and 190 to 199
    QTest::keyClick(text, Qt::Key_Return);
    EXPECT_EQ(state->text(), QStringLiteral("1/11"));
    EXPECT_EQ(view.cursorLine(), 19);
    QTest::keyClick(text, Qt::Key_Return);
    EXPECT_EQ(view.cursorLine(), 190);
    QTest::keyClick(text, Qt::Key_F3, Qt::ShiftModifier);
    EXPECT_EQ(view.cursorLine(), 19);
    QTest::keyClick(text, Qt::Key_Return, Qt::ShiftModifier);
    EXPECT_EQ(view.cursorLine(), 199);
    text->setText(QStringLiteral("nothing like it"));
    EXPECT_EQ(state->text(), QStringLiteral("none"));
    QTest::keyClick(text, Qt::Key_Escape);
    EXPECT_FALSE(text->isVisible());
    EXPECT_TRUE(editor->hasFocus());
}

TEST_F(SourceViewTest, GoesToALineAndRefusesOneThatIsNotThere) {
    QTest::keyClick(editor, Qt::Key_G, Qt::ControlModifier);
    auto* text = view.findChild<QLineEdit*>(QStringLiteral("sourceFind"));
    QTest::keyClicks(text, QStringLiteral("9999"));
    QTest::keyClick(text, Qt::Key_Return);
    EXPECT_EQ(view.findChild<QLabel*>(QStringLiteral("sourceFindState"))->text(),
              QStringLiteral("Lines are 1 to 201."));
    EXPECT_EQ(view.cursorLine(), 1);
    text->setText(QStringLiteral("150"));
    QTest::keyClick(text, Qt::Key_Return);
    EXPECT_EQ(view.cursorLine(), 150);
    EXPECT_FALSE(text->isVisible());
}

TEST_F(SourceViewTest, SwitchesFilesAndRemembersThePlace) {
    view.showLine(QStringLiteral("digits_cnn.cpp"), 90);
    view.showLine(QStringLiteral("digits_mlp.cpp"), 1);
    EXPECT_EQ(view.currentFile(), QStringLiteral("plugins/models/digits_mlp.cpp"));
    auto* chooser = view.findChild<QComboBox*>(QStringLiteral("sourceFile"));
    EXPECT_EQ(chooser->currentText(), QStringLiteral("digits_mlp.cpp"));
    chooser->setFocus();
    QTest::keyClick(chooser, Qt::Key_Up);
    EXPECT_EQ(view.currentFile(), QStringLiteral("plugins/models/digits_cnn.cpp"));
    EXPECT_EQ(view.cursorLine(), 90);
    view.setSources({{"plugins/models/digits_mlp.cpp", "new\n"},
                     {"plugins/models/digits_cnn.cpp", numbered(300)}});
    EXPECT_EQ(view.currentFile(), QStringLiteral("plugins/models/digits_cnn.cpp"));
    EXPECT_EQ(view.cursorLine(), 90);
    EXPECT_FALSE(view.showLine(QStringLiteral("cnn.cpp"), 1));  // no whole component
}

TEST_F(SourceViewTest, MakesRoomForCostsAndDrawsTheLargestWidest) {
    const int narrow = editor->gutter()->width();
    view.setLineCosts(QStringLiteral("digits_cnn.cpp"), {{2, 1e6}, {3, 4e6}});
    EXPECT_GT(editor->gutter()->width(), narrow + 30);
    const auto barPixels = [&](int line) {
        const QImage image = editor->gutter()->grab().toImage();
        const int y = gutterAt(line).y() - 6;
        int n = 0;
        for (int x = 22; x < 90; ++x)
            n += image.pixelColor(x, y).blue() > Theme::current().color(Theme::Panel).blue() + 12
                     ? 1
                     : 0;
        return n;
    };
    EXPECT_EQ(barPixels(1), 0);
    EXPECT_GT(barPixels(2), 5);
    EXPECT_GT(barPixels(3), 3 * barPixels(2));
}

TEST_F(SourceViewTest, SaysWhatFillsItWhenThereIsNoSource) {
    view.setSources({});
    auto* empty = view.findChild<EmptyState*>(QStringLiteral("sourceEmpty"));
    EXPECT_TRUE(empty->isVisible());
    EXPECT_FALSE(empty->hint().isEmpty());
    EXPECT_EQ(view.cursorLine(), 0);
    EXPECT_TRUE(view.currentFile().isEmpty());
    view.showFind();  // nothing to find in
    EXPECT_FALSE(view.showLine(QStringLiteral("x.cpp"), 1));
}

/// Formats of a block as "keyword(0-3)".
QStringList spans(const QTextDocument& document, int block) {
    QStringList result;
    for (const QTextLayout::FormatRange& r :
         document.findBlockByNumber(block).layout()->formats()) {
        result << document.findBlockByNumber(block).text().mid(r.start, r.length);
    }
    return result;
}

TEST(CppHighlighter, MarksKeywordsTypesCallsNumbersStringsAndComments) {
    QPlainTextEdit editor;
    const QTextDocument& document = *editor.document();
    CppHighlighter highlighter(editor.document());
    editor.setPlainText(
        QStringLiteral("#include <vector>\n"
                       "const Tensor y = relu(x, 1.5e-3) + \"a\\\"b\";  // why\n"
                       "int a; /* one\n"
                       "two */ return b;\n"));
    highlighter.rehighlight();  // else it is queued
    EXPECT_EQ(spans(document, 0),
              (QStringList{QStringLiteral("#include "), QStringLiteral("<vector>")}));
    EXPECT_EQ(spans(document, 1),
              (QStringList{QStringLiteral("const"), QStringLiteral("Tensor"),
                           QStringLiteral("relu"), QStringLiteral("1.5e-3"),
                           QStringLiteral("\"a\\\"b\""), QStringLiteral("// why")}));
    EXPECT_EQ(spans(document, 2), (QStringList{QStringLiteral("int"), QStringLiteral("/* one")}));
    EXPECT_EQ(spans(document, 3),
              (QStringList{QStringLiteral("two */"), QStringLiteral("return")}));
}

}  // namespace
}  // namespace tapescope::viewers
