// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/graph/graph_view.h"

#include "support/graph_samples.h"
#include "viewers/common/theme.h"
#include "viewers/graph/graph_canvas.h"
#include "viewers/graph/graph_painter.h"
#include "viewers/graph/graph_tooltip.h"
#include "viewers/models/selection.h"

#include <QComboBox>
#include <QFile>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>

#include <gtest/gtest.h>

namespace tapescope::viewers {
namespace {

class GraphViewTest : public ::testing::Test {
protected:
    GraphViewTest() {
        view.resize(1280, 800);
        view.show();
        canvas = view.findChild<GraphCanvas*>();
    }
    void load(const test::GraphMaker& m) {
        view.setGraph(m.share());
        QCoreApplication::processEvents();
    }
    int boxOfSeq(int seq) const {
        const GraphState& s = canvas->state();
        return s.scene().boxOfNode[static_cast<std::size_t>(
            s.graph().nodeOfSeq[static_cast<std::size_t>(seq)])];
    }
    int groupOf(const std::string& path, GraphColumn column = GraphColumn::Forward) const {
        const auto& groups = canvas->state().graph().groups;
        for (std::size_t g = 0; g < groups.size(); ++g) {
            if (groups[g].path == path && groups[g].column == column &&
                groups[g].kind == GraphGroup::Kind::Module)
                return static_cast<int>(g);
        }
        return -1;
    }
    const SceneBox& box(int i) const {
        return canvas->state().scene().boxes[static_cast<std::size_t>(i)];
    }
    const SceneBox& groupBox(const std::string& path) const {
        return box(canvas->state().scene().boxOfGroup[static_cast<std::size_t>(groupOf(path))]);
    }
    const BoxMark& mark(int i) const {
        return canvas->state().marks()[static_cast<std::size_t>(i)];
    }
    QPoint at(const QPointF& scene) const { return canvas->toWidget(scene).toPoint(); }
    QPoint bodyOf(const SceneBox& b) const {
        return at({b.x + b.width * 0.6, contentRect(b).center().y()});
    }
    void click(const QPoint& p) { QTest::mouseClick(canvas, Qt::LeftButton, {}, p); }
    void wheel(int delta, Qt::KeyboardModifiers modifiers, const QPointF& p) {
        QWheelEvent event(p, canvas->mapToGlobal(p), {}, {0, delta}, Qt::NoButton, modifiers,
                          Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(canvas, &event);
    }

    GraphView view;
    GraphCanvas* canvas = nullptr;
};

TEST_F(GraphViewTest, ClickOnTheDotAreaAsksForABreakpointOnThatOperatorInThatModule) {
    load(test::digitsCnn());
    QSignalSpy toggled(&view, &GraphView::breakpointToggled);
    click(at(dotRect(box(boxOfSeq(2))).center()));
    ASSERT_EQ(toggled.count(), 1);
    EXPECT_EQ(toggled[0], (QVariantList{QStringLiteral("conv2d"), QStringLiteral("conv2"), false}));
    EXPECT_FALSE(view.selectedNode().has_value());  // the dot does not select
    view.selectNode(25);                            // conv2d_backward_input
    QTest::keyClick(canvas, Qt::Key_F9);
    ASSERT_EQ(toggled.count(), 2);
    EXPECT_EQ(toggled[1], (QVariantList{QStringLiteral("conv2d"), QStringLiteral("conv2"), true}));
    view.selectNode(2);
    QTest::keyClick(canvas, Qt::Key_F9);
    EXPECT_EQ(toggled[2], toggled[0]);
    click(at(dotRect(groupBox("conv2")).center()));
    EXPECT_EQ(toggled[3], (QVariantList{QString(), QStringLiteral("conv2"), false}));
}

TEST_F(GraphViewTest, ShowsBreakpointsWhereTheyStop) {
    load(test::digitsCnn());
    GraphBreakpoint unverified{"fc1"};
    unverified.verified = false;
    view.setBreakpoints({{"conv*"}, {"conv2: conv2d"}, unverified, {"backward:conv2: conv2d"}});
    EXPECT_EQ(mark(boxOfSeq(0)).dot, PlaceMatch::Pattern);
    EXPECT_EQ(mark(boxOfSeq(2)).dot, PlaceMatch::Exact);
    EXPECT_EQ(mark(boxOfSeq(1)).dot, PlaceMatch::None);
    EXPECT_EQ(mark(boxOfSeq(25)).dot, PlaceMatch::Exact);
    const int fc1 = canvas->state().scene().boxOfGroup[static_cast<std::size_t>(groupOf("fc1"))];
    EXPECT_EQ(mark(fc1).dot, PlaceMatch::Exact);
    EXPECT_FALSE(mark(fc1).dotVerified);
    // The dot is there to be seen.
    const QPoint centre = at(dotRect(box(boxOfSeq(2))).center());
    EXPECT_EQ(canvas->grab().toImage().pixelColor(centre), Theme::current().color(Theme::Bad));
}

TEST_F(GraphViewTest, AClosedGroupTellsOfABreakpointInside) {
    load(test::digitsCnn());
    view.setBreakpoints({{"conv2: conv2d"}});
    view.collapseAll();
    EXPECT_TRUE(mark(boxOfSeq(2)).dotInside);
    EXPECT_FALSE(mark(boxOfSeq(0)).dotInside);
}

TEST_F(GraphViewTest, DoubleClickAndKeysOpenAndCloseAGroupUnderThePointer) {
    load(test::digitsCnn());
    const QPoint title = bodyOf(groupBox("conv2"));
    ASSERT_TRUE(groupBox("conv2").open);
    QTest::mouseDClick(canvas, Qt::LeftButton, {}, title);
    EXPECT_FALSE(groupBox("conv2").open);
    EXPECT_NEAR(canvas->toWidget({groupBox("conv2").x, groupBox("conv2").y}).y(), title.y(), 30);
    QTest::mouseDClick(canvas, Qt::LeftButton, {}, bodyOf(groupBox("conv2")));
    EXPECT_TRUE(groupBox("conv2").open);
    click(bodyOf(groupBox("conv2")));
    QTest::keyClick(canvas, Qt::Key_Minus);
    EXPECT_FALSE(groupBox("conv2").open);
    QTest::keyClick(canvas, Qt::Key_Plus);
    EXPECT_TRUE(groupBox("conv2").open);
    view.selectNode(2);  // inside: minus closes the group around it
    QTest::keyClick(canvas, Qt::Key_Minus);
    EXPECT_FALSE(groupBox("conv2").open);
    click(at(openerRect(groupBox("conv2")).center()));
    EXPECT_TRUE(groupBox("conv2").open);
}

TEST_F(GraphViewTest, DoubleClickOnAnOperatorActivatesIt) {
    load(test::digitsCnn());
    QSignalSpy activated(&view, &GraphView::activated);
    QTest::mouseDClick(canvas, Qt::LeftButton, {}, bodyOf(box(boxOfSeq(2))));
    ASSERT_EQ(activated.count(), 1);
    EXPECT_EQ(activated[0][0].toLongLong(), 2);
    view.selectNode(1);
    QTest::keyClick(canvas, Qt::Key_Return);
    EXPECT_EQ(activated[1][0].toLongLong(), 1);
}

TEST_F(GraphViewTest, ClickSelectsAndLightsInputsOutputsAndGradient) {
    load(test::digitsCnn());
    QSignalSpy selected(&view, &GraphView::selected);
    click(bodyOf(box(boxOfSeq(2))));
    ASSERT_EQ(selected.count(), 1);
    EXPECT_EQ(selected[0][0].toLongLong(), 2);
    EXPECT_TRUE(mark(boxOfSeq(2)).selected);
    EXPECT_TRUE(mark(boxOfSeq(1)).neighbour);   // relu gives its input
    EXPECT_TRUE(mark(boxOfSeq(3)).neighbour);   // relu reads its output
    EXPECT_TRUE(mark(boxOfSeq(25)).neighbour);  // its gradient
    EXPECT_FALSE(mark(boxOfSeq(5)).neighbour);
    int lit = 0;
    for (const char line : canvas->state().litLines()) lit += line;
    EXPECT_EQ(lit,
              6);  // weight, bias; input and output cross the module's border in two pieces each
    QTest::keyClick(canvas, Qt::Key_Escape);
    EXPECT_FALSE(view.selectedNode().has_value());
    EXPECT_EQ(selected.last()[0].toLongLong(), -1);
}

TEST_F(GraphViewTest, ArrowKeysWalkInOrderOfExecution) {
    load(test::digitsCnn());
    view.selectNode(0);
    QTest::keyClick(canvas, Qt::Key_Down);
    EXPECT_EQ(view.selectedNode(), 1U);
    QTest::keyClick(canvas, Qt::Key_Down);
    EXPECT_EQ(view.selectedNode(), 2U);
    QTest::keyClick(canvas, Qt::Key_Up);
    EXPECT_EQ(view.selectedNode(), 1U);
    view.selectNode(2);
    QTest::keyClick(canvas, Qt::Key_Left);  // to conv2
    EXPECT_EQ(canvas->state().selectedGroup(), groupOf("conv2"));
    QTest::keyClick(canvas, Qt::Key_Right);
    EXPECT_EQ(view.selectedNode(), 2U);
}

TEST_F(GraphViewTest, SharesTheSelectionBothWays) {
    load(test::digitsCnn());
    Selection selection;
    view.setSelection(&selection);
    click(bodyOf(box(boxOfSeq(0))));
    EXPECT_EQ(selection.op().graph, 7);
    EXPECT_EQ(selection.op().seq, 0);
    EXPECT_EQ(selection.modulePath(), QStringLiteral("conv1"));
    EXPECT_EQ(selection.site(), (SiteRef{QStringLiteral("plugins/models/digits_cnn.cpp"), 42}));
    view.collapseAll();
    QSignalSpy told(&view, &GraphView::selected);
    selection.setOp({7, 10, 0, -1});
    EXPECT_EQ(view.selectedNode(), 10U);
    EXPECT_TRUE(groupBox("fc2").open);  // opened to show it
    EXPECT_EQ(told.count(), 0);
    selection.setOp({8, 3, 0, -1});  // another graph's
    EXPECT_EQ(view.selectedNode(), 10U);
    selection.setModulePath(QStringLiteral("pool"));
    EXPECT_EQ(canvas->state().selectedGroup(), groupOf("pool"));
}

TEST_F(GraphViewTest, SearchCountsStepsAndOpens) {
    load(test::digitsCnn());
    view.collapseAll();
    auto* search = view.findChild<QLineEdit*>(QStringLiteral("graphSearch"));
    auto* matches = view.findChild<QLabel*>(QStringLiteral("graphMatches"));
    QTest::keyClick(canvas, Qt::Key_F, Qt::ControlModifier);
    EXPECT_TRUE(search->hasFocus());
    QTest::keyClicks(search, QStringLiteral("AddMM"));
    EXPECT_EQ(matches->text(), QStringLiteral("0/4"));  // two forward, two gradient groups
    QTest::keyClick(search, Qt::Key_Return);
    EXPECT_EQ(matches->text(), QStringLiteral("1/4"));
    EXPECT_TRUE(groupBox("fc1").open);
    EXPECT_TRUE(mark(boxOfSeq(7)).activeMatch);
    EXPECT_TRUE(canvas->visibleScene().contains(QPointF(box(boxOfSeq(7)).x, box(boxOfSeq(7)).y)));
    QTest::keyClick(search, Qt::Key_Return);
    EXPECT_TRUE(mark(boxOfSeq(10)).activeMatch);
    QTest::keyClick(search, Qt::Key_Return, Qt::ShiftModifier);
    EXPECT_EQ(matches->text(), QStringLiteral("1/4"));
    search->setText(QStringLiteral("#13"));
    EXPECT_EQ(matches->text(), QStringLiteral("0/1"));
    search->setText(QStringLiteral("no such thing"));
    EXPECT_EQ(matches->text(), QStringLiteral("none"));
    QTest::keyClick(search, Qt::Key_Escape);
    EXPECT_TRUE(search->text().isEmpty());
    EXPECT_TRUE(canvas->hasFocus());
}

TEST_F(GraphViewTest, FollowsTheCurrentOperatorIntoItsModuleAndClosesItBehind) {
    load(test::gpt(600));
    const int attn = groupOf("h.1.attn");
    ASSERT_FALSE(canvas->state().isOpen(attn));
    int softmax = -1;
    for (const storage::GraphNode& n : view.graph()->graph.nodes) {
        if (n.op == "softmax" && softmax < 0 && n.seq > 40) softmax = static_cast<int>(n.seq);
    }
    view.setCurrent(static_cast<std::uint32_t>(softmax));
    EXPECT_TRUE(canvas->state().isOpen(attn));
    EXPECT_TRUE(mark(boxOfSeq(softmax)).current);
    EXPECT_TRUE(canvas->visibleScene().contains(
        QPointF(box(boxOfSeq(softmax)).x, box(boxOfSeq(softmax)).y)));
    view.setCurrent(0);
    EXPECT_FALSE(canvas->state().isOpen(attn));
    view.setFollowing(false);
    view.setCurrent(static_cast<std::uint32_t>(softmax));
    EXPECT_FALSE(canvas->state().isOpen(attn));
    EXPECT_TRUE(mark(boxOfSeq(softmax)).current);  // the closed group around it is lit
    view.setCurrent({});
    EXPECT_FALSE(mark(boxOfSeq(softmax)).current);
}

TEST_F(GraphViewTest, ShadesWhatHasNotRunYet) {
    load(test::digitsCnn());
    view.setProgress(7);
    EXPECT_EQ(mark(boxOfSeq(6)).ran, 1);
    EXPECT_EQ(mark(boxOfSeq(7)).ran, 0);
    view.collapseAll();
    EXPECT_EQ(mark(boxOfSeq(6)).ran, 0.5);  // fc1: transpose has run, addmm has not
    view.setProgress({});
    EXPECT_EQ(mark(boxOfSeq(30)).ran, 1);
}

TEST_F(GraphViewTest, APartialGraphGrowsWithoutLosingPlaceOrSelection) {
    const test::GraphMaker whole = test::digitsCnn();
    test::GraphMaker part = whole;
    part.data.graph.nodes.resize(4);
    part.data.graph.complete = false;
    load(part);
    canvas->zoomBy(1.3, {100, 100});  // the user has a place of his own now
    view.selectNode(1);
    const QPointF before = canvas->toWidget({box(boxOfSeq(1)).x, box(boxOfSeq(1)).y});
    load(whole);
    EXPECT_EQ(view.selectedNode(), 1U);
    const QPointF after = canvas->toWidget({box(boxOfSeq(1)).x, box(boxOfSeq(1)).y});
    EXPECT_LT((after - before).manhattanLength(), 150);
    EXPECT_EQ(canvas->state().graph().columns.size(), 2U);
}

TEST_F(GraphViewTest, HeatGoesFromNothingToTheLargestVisibleValue) {
    load(test::digitsCnn());
    view.setHeat(GraphHeat::Flops);
    EXPECT_DOUBLE_EQ(canvas->state().heatMax(),
                     1.7e7 * 2 + 1e5);  // a closed gradient group: two mm and a sum
    EXPECT_NEAR(mark(boxOfSeq(7)).heat, 1.7e7 / (1.7e7 * 2 + 1e5), 1e-12);
    auto* colour = view.findChild<QComboBox*>(QStringLiteral("graphColour"));
    EXPECT_EQ(colour->currentData().toInt(), static_cast<int>(GraphHeat::Flops));
    test::GraphMaker untimed = test::digitsCnn();
    untimed.data.timeNs.clear();
    view.setHeat(GraphHeat::Time);
    EXPECT_EQ(view.heat(), GraphHeat::Time);
    load(untimed);
    EXPECT_EQ(view.heat(), GraphHeat::Kind);  // no times, no colour that would lie
}

TEST_F(GraphViewTest, WheelScrollsAndWithControlZoomsAtThePointer) {
    load(test::gpt(600));
    view.expandAll();
    const QPointF p(300, 300);
    const QPointF under = canvas->toScene(p);
    const double scale = canvas->scale();
    wheel(120, Qt::ControlModifier, p);
    EXPECT_NEAR(canvas->scale(), scale * 1.2, 1e-9);
    EXPECT_NEAR(canvas->toScene(p).y(), under.y(), 1e-6);
    const double top = canvas->visibleScene().top();
    wheel(-120, {}, p);
    EXPECT_NEAR(canvas->visibleScene().top(), top + 60 / canvas->scale(), 1e-6);
}

TEST_F(GraphViewTest, DraggingPansAndDoesNotSelect) {
    load(test::gpt(600));
    view.expandAll();
    const QPointF before = canvas->visibleScene().topLeft();
    QTest::mousePress(canvas, Qt::LeftButton, {}, {300, 300});
    QTest::mouseMove(canvas, {300, 250});
    QTest::mouseMove(canvas, {300, 200});
    QTest::mouseRelease(canvas, Qt::LeftButton, {}, {300, 200});
    EXPECT_NEAR(canvas->visibleScene().top(), before.y() + 100 / canvas->scale(), 1e-6);
    EXPECT_FALSE(view.selectedNode().has_value());
}

TEST_F(GraphViewTest, FitShowsEverythingAndStaysFittedOnResize) {
    load(test::gpt(600));
    view.expandAll();
    QTest::keyClick(canvas, Qt::Key_F);
    const QRectF all(0, 0, canvas->state().scene().width, canvas->state().scene().height);
    EXPECT_TRUE(canvas->visibleScene().contains(all));
    view.resize(700, 500);
    QCoreApplication::processEvents();
    EXPECT_TRUE(canvas->visibleScene().contains(all));
}

TEST_F(GraphViewTest, AClickOnAChipGoesToWhereTheTensorComesFrom) {
    load(test::digitsCnn());
    const SceneBox& b = box(boxOfSeq(28));  // relu_backward reads the forward relu's output
    ASSERT_FALSE(b.chips.empty());
    canvas->showBox(boxOfSeq(28), true);
    click(at({b.chips[0].x + 8, b.chips[0].y + 8}));
    EXPECT_EQ(view.selectedNode(), 1U);
}

TEST_F(GraphViewTest, ToolTipNamesShapesAttributesModuleAndSite) {
    load(test::digitsCnn());
    const QString tip = boxToolTip(canvas->state(), boxOfSeq(0));
    for (const char* part :
         {"<b>conv2d</b> #0", "f32[64,1,8,8] ← input", "f32[32,1,3,3] ← conv1.weight",
          "f32[64,32,8,8]", "stride=[1, 1], padding=[1, 1]", "conv1 (Conv2d)",
          "plugins/models/digits_cnn.cpp:42"}) {
        EXPECT_TRUE(tip.contains(QString::fromUtf8(part))) << part << "\n" << tip.toStdString();
    }
    EXPECT_TRUE(boxToolTip(canvas->state(), boxOfSeq(25)).contains(QStringLiteral("conv2d #2")));
}

TEST_F(GraphViewTest, ExportsWhatIsThereAsPngAndSvg) {
    load(test::digitsCnn());
    const QTemporaryDir folder;
    const QString png = folder.filePath(QStringLiteral("g.png"));
    const QString svg = folder.filePath(QStringLiteral("g.svg"));
    QString error;
    ASSERT_TRUE(view.exportPng(png, &error)) << error.toStdString();
    EXPECT_EQ(QImage(png).width(), static_cast<int>((canvas->state().scene().width + 32) * 2));
    ASSERT_TRUE(view.exportSvg(svg, &error)) << error.toStdString();
    QFile file(svg);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    EXPECT_TRUE(text.contains("max_pool2d_backward"));
    EXPECT_TRUE(QSvgRenderer(text).isValid());
    EXPECT_FALSE(view.exportPng(folder.filePath(QStringLiteral("no/such/folder.png")), &error));
    EXPECT_TRUE(error.contains(QStringLiteral("no/such/folder.png")));
    view.setGraph({});
    EXPECT_FALSE(view.exportSvg(svg, &error));
    EXPECT_FALSE(error.isEmpty());
}

TEST_F(GraphViewTest, ADeepModelStartsClosedAndOpensWhole) {
    const test::GraphMaker m = test::gpt(20000);
    load(m);
    EXPECT_LT(canvas->state().scene().boxes.size(), 40U);
    view.expandAll();
    EXPECT_GT(canvas->state().scene().boxes.size(), m.data.graph.nodes.size());
    view.fit();
    EXPECT_FALSE(canvas->grab().isNull());
    view.setSearchText(QStringLiteral("softmax"));
    EXPECT_GT(canvas->state().matchCount(), 100);
}

TEST_F(GraphViewTest, SaysWhatFillsItWhenEmptyAndTakesAnEmptyGraph) {
    const QImage plain = canvas->grab().toImage();
    view.setEmptyText(QStringLiteral("Press F5 to run digits-cnn."));
    EXPECT_NE(canvas->grab().toImage(), plain);
    view.setGraph(std::make_shared<const GraphData>());
    view.setCurrent(3);
    view.fit();
    view.selectNode(2);
    QTest::keyClick(canvas, Qt::Key_Down);
    click({50, 50});
    EXPECT_FALSE(view.selectedNode().has_value());
}

TEST_F(GraphViewTest, ShortensVeryLongNames) {
    test::GraphMaker m;
    const auto root = m.module("", "Net");
    m.op(std::string(500, 'x'), root, {test::GraphMaker::leaf(std::string(300, 'y'), "f32[1]")},
         "f32[1]");
    load(m);
    for (const SceneBox& b : canvas->state().scene().boxes) EXPECT_LT(b.width, 400);
    EXPECT_TRUE(boxToolTip(canvas->state(), boxOfSeq(0)).contains(QString(500, u'x')));
}

TEST_F(GraphViewTest, FollowsTheTheme) {
    load(test::digitsCnn());
    const QColor dark = canvas->grab().toImage().pixelColor(5, 5);
    Theme::current().apply(Theme::Mode::Light);
    const QColor light = canvas->grab().toImage().pixelColor(5, 5);
    Theme::current().apply(Theme::Mode::Dark);
    EXPECT_LT(dark.lightness(), 60);
    EXPECT_GT(light.lightness(), 200);
}

}  // namespace
}  // namespace tapescope::viewers
