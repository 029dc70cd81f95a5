// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/tensors/slice_planes.h"
#include "viewers/tensors/slice_spec.h"
#include "viewers/tensors/tensor_tiles.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace tapescope::viewers {
namespace {

const std::vector<qint64> kShape{64, 12, 8, 10};

std::string parsed(const char* text, const std::vector<qint64>& shape = kShape) {
    QString error;
    const auto spec = SliceSpec::parse(QString::fromUtf8(text), shape, &error);
    return spec ? spec->text().toStdString() : "! " + error.toStdString();
}

TEST(SliceSpec, ShowsTheLastTwoAxesFirst) {
    const SliceSpec s(kShape);
    EXPECT_EQ(s.text(), QStringLiteral("0, 0, :, :"));
    EXPECT_EQ(s.rows(), 8);
    EXPECT_EQ(s.columns(), 10);
    EXPECT_EQ(SliceSpec(std::vector<qint64>{5}).text(), QStringLiteral(":"));
    EXPECT_EQ(SliceSpec(std::vector<qint64>{5}).columns(), 1);
    EXPECT_EQ(SliceSpec(std::vector<qint64>{}).rows(), 1);
    EXPECT_EQ(SliceSpec(std::vector<qint64>{}).text(), QString());
    EXPECT_EQ(SliceSpec(std::vector<qint64>{0, 4}).rows(), 0);
}

TEST(SliceSpec, ReadsWhatNumPyReads) {
    EXPECT_EQ(parsed("3, 1, :, 2:5"), "3, 1, :, 2:5");
    EXPECT_EQ(parsed("[3, 1, ::2, 1:8:3]"), "3, 1, ::2, 1:8:3");
    EXPECT_EQ(parsed("-1, -2"), "63, 10, :, :");
    EXPECT_EQ(parsed("..., 0"), "0, :, :, 0");  // of three ranges the first becomes its index
    EXPECT_EQ(parsed("5, ..., 1:3, :"), "5, 0, 1:3, :");
    EXPECT_EQ(parsed(""), "0, 0, :, :");
    EXPECT_EQ(parsed("1,2,3,4"), "1, 2, 3, 4");
    EXPECT_EQ(parsed("2,"), "2, 0, :, :");
    EXPECT_EQ(parsed("0, 0, -3:, :-2"), "0, 0, 5:8, 0:8");
    EXPECT_EQ(parsed("0, 0, 2:99, :"), "0, 0, 2:8, :");
}

TEST(SliceSpec, SaysWhatIsWrongInOneSentence) {
    EXPECT_EQ(parsed("64"), "! Index 64 is outside axis 0 of size 64.");
    EXPECT_EQ(parsed("0, x"), "! “x” is no index or range; write for example 0, 2:5 or :");
    EXPECT_EQ(parsed("0, 0, 1:2:3:4, 0"),
              "! “1:2:3:4” is no index or range; write for example 0, 2:5 or :");
    EXPECT_EQ(parsed("0,0,0,0,0"), "! The slice has 5 entries, the tensor 4 axes.");
    EXPECT_EQ(parsed("..., ..."), "! “...” may stand only once in a slice.");
    EXPECT_EQ(parsed("0, 0, ::0, :"), "! The step of “::0” must be 1 or more.");
    EXPECT_EQ(parsed("0, 0, ::-1, :"), "! The step of “::-1” must be 1 or more.");
    EXPECT_EQ(parsed("0, 0, 5:5, :"), "! “5:5” is empty on axis 2 of size 8.");
}

TEST(SliceSpec, NamesBlocksOfTheTableInTheTensorsOrder) {
    SliceSpec s =
        *SliceSpec::parse(QStringLiteral("3, 1:11:2, 0, :"), kShape, nullptr);  // rows: axis 1
    EXPECT_EQ(s.rows(), 5);
    EXPECT_EQ(s.blockText(0, 5, 0, 10), QStringLiteral("3, 1:10:2, 0, :"));
    EXPECT_EQ(s.blockText(2, 2, 4, 3), QStringLiteral("3, 5:8:2, 0, 4:7"));
    EXPECT_EQ(s.cellText(2, 4), QStringLiteral("3, 5, 0, 4"));
    s.setShownAxes(3, 0);  // turned: columns run along axis 0
    EXPECT_EQ(s.text(), QStringLiteral(":, 1, 0, :"));
    EXPECT_EQ(s.rows(), 10);
    EXPECT_EQ(s.columns(), 64);
    EXPECT_EQ(s.blockText(0, 4, 60, 4), QStringLiteral("60:64, 1, 0, 0:4"));
    EXPECT_EQ(s.cellText(1, 60), QStringLiteral("60, 1, 0, 1"));
    s.setIndex(1, 99);
    EXPECT_EQ(s.axis(1).start, 11);
}

TEST(SlicePlanes, MakesAGridOfChannelsOrOfTheBatch) {
    EXPECT_EQ(SlicePlanes::defaultTileAxis(SliceSpec(kShape)), 1);
    EXPECT_EQ(SlicePlanes::defaultTileAxis(SliceSpec({64, 1, 8, 8})), 0);
    EXPECT_EQ(SlicePlanes::defaultTileAxis(SliceSpec({8, 8})), -1);
    EXPECT_EQ(SlicePlanes::defaultTileAxis(SliceSpec({7})), -1);
    const SlicePlanes p(SliceSpec(kShape), 1);
    EXPECT_EQ(p.requestText(), QStringLiteral("0, :, :, :"));
    EXPECT_EQ(p.planes(), 12);
    EXPECT_EQ(p.elements(), 960);
    EXPECT_EQ(p.cellText(5, 2, 3), QStringLiteral("0, 5, 2, 3"));
}

TEST(SlicePlanes, ArrangesPlanesRowsAndColumnsWhateverTheirOrder) {
    SliceSpec s({2, 3, 2});  // rows along axis 2, columns along axis 0, planes along axis 1
    s.setShownAxes(2, 0);
    const SlicePlanes p(s, 1);
    EXPECT_EQ(p.requestText(), QStringLiteral(":, :, :"));
    TensorSlice answer;
    for (int i = 0; i < 12; ++i) answer.values.push_back(i);  // value = a * 6 + b * 2 + c
    EXPECT_EQ(p.arrange(answer), (std::vector<double>{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}));
    answer.values.pop_back();
    EXPECT_TRUE(p.arrange(answer).empty());
}

TEST(SlicePlanes, CutsWhatIsTooLarge) {
    const SlicePlanes big(SliceSpec({4000, 3000}), -1);
    EXPECT_EQ(big.stride(), 4);
    EXPECT_EQ(big.rows(), 1000);
    EXPECT_EQ(big.columns(), 750);
    EXPECT_EQ(big.requestText(), QStringLiteral("::4, ::4"));
    EXPECT_EQ(big.cellText(0, 2, 3), QStringLiteral("8, 12"));
    const SlicePlanes many(SliceSpec({1, 512, 100, 100}), 1);
    EXPECT_EQ(many.planes(), 100);
    EXPECT_EQ(many.planesOfAxis(), 512);
    EXPECT_EQ(many.requestText(), QStringLiteral("0, 0:100, :, :"));
}

TEST(SlicePlanes, FoldsASingleAxisWithoutHoles) {
    const SlicePlanes p(SliceSpec({128}), -1);
    EXPECT_EQ(p.columns(), 16);
    EXPECT_EQ(p.rows(), 8);
    EXPECT_EQ(p.cellText(0, 1, 3), QStringLiteral("19"));
    const SlicePlanes prime(SliceSpec({13}), -1);
    EXPECT_EQ(prime.columns(), 13);
    EXPECT_EQ(prime.rows(), 1);
}

TEST(TensorTiles, SmallerPicturesKeepTheValueOfLargestMagnitude) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const TensorTiles t({1, -5, 0, 2,  //
                         3, 4, -1, 0,  //
                         0, 0, nan, 9},
                        1, 3, 4);
    EXPECT_EQ(t.levels(), 3);
    EXPECT_EQ(t.value(0, 0, 0, 1), -5);
    EXPECT_EQ(t.value(0, 0, 1, 1), 2);
    EXPECT_EQ(t.value(0, 1, 0, 1), 0);
    EXPECT_TRUE(std::isnan(t.value(0, 1, 1, 1)));
    EXPECT_TRUE(std::isnan(t.value(0, 0, 0, 2)));  // stays visible from afar
    EXPECT_EQ(t.colours().low, -5);
    EXPECT_EQ(t.colours().high, 9);
    EXPECT_EQ(t.nanCount(), 1);
    EXPECT_EQ(t.levelFor(1), 0);
    EXPECT_EQ(t.levelFor(0.5), 1);
    EXPECT_EQ(t.levelFor(0.01), 2);
}

TEST(ValueColours, AreCentredOnZeroForSignedValuesOnly) {
    const ValueColours both{-2, 4};
    EXPECT_TRUE(both.isSigned());
    EXPECT_DOUBLE_EQ(both.position(-2), -0.5);
    EXPECT_DOUBLE_EQ(both.position(0), 0);
    const ValueColours positive{2, 4};
    EXPECT_FALSE(positive.isSigned());
    EXPECT_DOUBLE_EQ(positive.position(2), 0);
    EXPECT_DOUBLE_EQ(positive.position(4), 1);
    EXPECT_DOUBLE_EQ((ValueColours{3, 3}.position(3)), 0);
}

}  // namespace
}  // namespace tapescope::viewers
