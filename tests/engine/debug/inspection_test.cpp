// SPDX-License-Identifier: Apache-2.0
#include "engine/debug/element_runs.h"
#include "engine/debug/slice.h"
#include "engine/debug/tensor_bytes.h"
#include "engine/debug/tensor_stats.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/op_def.h"
#include "engine/tensor/tensor_impl.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <vector>

namespace tapescope::engine::debug {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor counting(const Dims& sizes) {
    std::vector<float> values(static_cast<std::size_t>(numelOf(sizes)));
    std::iota(values.begin(), values.end(), 0.0F);
    return Tensor::from<float>(std::span<const float>(values), sizes);
}

std::string sliceError(const Tensor& t, std::string_view text) {
    try {
        applySlice(t, text);
    } catch (const Error& e) {
        return e.what();
    }
    return "accepted";
}

TEST(TensorStats, DescribesFiniteValuesAndCountsTheOthers) {
    const Tensor t = Tensor::from<double>({1, 2, kNaN, 3, kInf, -kInf, 6}, {7});
    const TensorStats stats = tensorStats(t);
    EXPECT_EQ(stats.numel, 7);
    EXPECT_EQ(stats.nanCount, 1);
    EXPECT_EQ(stats.infCount, 2);
    EXPECT_EQ(stats.min, 1);
    EXPECT_EQ(stats.max, 6);
    EXPECT_EQ(stats.mean, 3);
    EXPECT_DOUBLE_EQ(stats.std, std::sqrt((4.0 + 1 + 0 + 9) / 4));  // numpy.std([1, 2, 3, 6])
    EXPECT_TRUE(stats.edges.empty());
}

TEST(TensorStats, HistogramIsNumpysWithTheLastBinClosed) {
    const TensorStats stats = tensorStats(Tensor::from<float>({0, 1, 2, 3, 4, 4}, {2, 3}), 4);
    EXPECT_EQ(stats.edges, (std::vector<double>{0, 1, 2, 3, 4}));
    EXPECT_EQ(stats.counts, (std::vector<std::int64_t>{1, 1, 1, 3}));
}

TEST(TensorStats, EqualValuesGetABinsWidthAroundThem) {
    const TensorStats stats = tensorStats(Tensor::from<std::int64_t>({5, 5, 5}, {3}), 2);
    EXPECT_EQ(stats.edges, (std::vector<double>{4.5, 5, 5.5}));
    EXPECT_EQ(stats.counts, (std::vector<std::int64_t>{0, 3}));
    EXPECT_EQ(stats.std, 0);
    const TensorStats huge = tensorStats(Tensor::from<double>({1e300, 1e300}, {2}), 3);
    EXPECT_EQ(huge.counts, (std::vector<std::int64_t>{0, 2, 0}));
}

TEST(TensorStats, SurvivesTheEndsOfTheRange) {
    const double top = std::numeric_limits<double>::max();
    const TensorStats stats = tensorStats(Tensor::from<double>({-top, top, top}, {3}), 2);
    EXPECT_EQ(stats.min, -top);
    EXPECT_EQ(stats.max, top);
    EXPECT_DOUBLE_EQ(stats.mean, top / 3);
    EXPECT_EQ(stats.counts, (std::vector<std::int64_t>{1, 2}));
    const std::int64_t low = std::numeric_limits<std::int64_t>::min();
    const TensorStats ints = tensorStats(Tensor::from<std::int64_t>({low, low + 1, 0}, {3}), 8);
    EXPECT_EQ(std::accumulate(ints.counts.begin(), ints.counts.end(), std::int64_t{0}), 3);
}

TEST(TensorStats, NothingFiniteGivesNaNAndNoBins) {
    const TensorStats stats = tensorStats(Tensor::from<float>({NAN, INFINITY}, {2}), 4);
    EXPECT_TRUE(std::isnan(stats.min));
    EXPECT_TRUE(std::isnan(stats.mean));
    EXPECT_TRUE(stats.counts.empty());
    EXPECT_EQ(tensorStats(Tensor::empty({0, 3})).numel, 0);
    EXPECT_TRUE(std::isnan(tensorStats(Tensor::empty({0, 3})).max));
}

TEST(TensorStats, ReadsStridedBoolAndScalarTensors) {
    const Tensor t = counting({3, 4});
    const Tensor column = applySlice(t, ":, 1");  // 1, 5, 9
    EXPECT_EQ(tensorStats(column).mean, 5);
    EXPECT_EQ(tensorStats(applySlice(t, "::-1, ::2")).max, 10);
    const bool flags[] = {true, false, true, true};
    EXPECT_EQ(tensorStats(Tensor::from<bool>(std::span(flags), {4})).mean, 0.75);
    EXPECT_EQ(tensorStats(Tensor::scalar(2.5)).min, 2.5);
}

TEST(TensorStats, RefusesAnUndefinedTensorAndAbsurdBins) {
    EXPECT_THROW(tensorStats(Tensor()), Error);
    EXPECT_THROW(tensorStats(counting({2}), -1), Error);
    EXPECT_THROW(tensorStats(counting({2}), 1 << 20), Error);
}

TEST(Slice, TakesWhatNumpyTakes) {
    const Tensor t = counting({2, 3, 4});
    EXPECT_EQ(applySlice(t, "1, 2, 3").to_vector(), (std::vector<double>{23}));
    EXPECT_EQ(applySlice(t, "1, 2, 3").dim(), 0);
    EXPECT_EQ(applySlice(t, "-1, :, 1:3").sizes(), (Dims{3, 2}));
    EXPECT_EQ(applySlice(t, "-1, :, 1:3").to_vector(),
              (std::vector<double>{13, 14, 17, 18, 21, 22}));
    EXPECT_EQ(applySlice(t, "..., 0").to_vector(), (std::vector<double>{0, 4, 8, 12, 16, 20}));
    EXPECT_EQ(applySlice(t, "0, ..., -1").to_vector(), (std::vector<double>{3, 7, 11}));
    EXPECT_EQ(applySlice(t, "0, 0, ::-1").to_vector(), (std::vector<double>{3, 2, 1, 0}));
    EXPECT_EQ(applySlice(t, "0, 0, 3:0:-2").to_vector(), (std::vector<double>{3, 1}));
    EXPECT_EQ(applySlice(t, "0, 0, -3:-1").to_vector(), (std::vector<double>{1, 2}));
    EXPECT_EQ(applySlice(t, "0,").sizes(), (Dims{3, 4}));
    EXPECT_EQ(applySlice(t, "").sizes(), (Dims{2, 3, 4}));
    EXPECT_EQ(applySlice(t, "...").sizes(), (Dims{2, 3, 4}));
    EXPECT_EQ(applySlice(t, "0, 1, ..., 2").item(), 6);
}

TEST(Slice, ClipsRangesAtTheEnds) {
    const Tensor t = counting({5});
    EXPECT_EQ(applySlice(t, "3:100").to_vector(), (std::vector<double>{3, 4}));
    EXPECT_EQ(applySlice(t, "-100:2").to_vector(), (std::vector<double>{0, 1}));
    EXPECT_EQ(applySlice(t, "100::-2").to_vector(), (std::vector<double>{4, 2, 0}));
    EXPECT_EQ(applySlice(t, "4:1").sizes(), (Dims{0}));
    EXPECT_EQ(applySlice(t, "1:4:-1").sizes(), (Dims{0}));
    EXPECT_EQ(applySlice(t, "1::9223372036854775807").to_vector(), (std::vector<double>{1}));
    EXPECT_EQ(applySlice(t, "::-9223372036854775808").to_vector(), (std::vector<double>{4}));
    EXPECT_EQ(applySlice(Tensor::empty({0}), "::-1").sizes(), (Dims{0}));
}

TEST(Slice, SaysWhichEntryIsWrong) {
    const Tensor t = counting({2, 3});
    EXPECT_EQ(sliceError(t, "0, 3"),
              "The index 3 is out of range for axis 1 of f32[2,3]: it has 3 elements.");
    EXPECT_EQ(sliceError(t, "-3"),
              "The index -3 is out of range for axis 0 of f32[2,3]: it has 2 elements.");
    EXPECT_EQ(sliceError(t, "0, 0, 0"),
              "The slice \"0, 0, 0\" has 3 entries; the tensor f32[2,3] has 2 axes.");
    EXPECT_NE(sliceError(t, "0, a").find("\"a\" is not a number"), std::string::npos);
    EXPECT_NE(sliceError(t, "::0").find("steps by 0"), std::string::npos);
    EXPECT_NE(sliceError(t, "1:2:3:4").find("more than start:stop:step"), std::string::npos);
    EXPECT_NE(sliceError(t, "0,,1").find("nothing between two commas"), std::string::npos);
    EXPECT_NE(sliceError(t, "..., ...").find("twice"), std::string::npos);
    EXPECT_NE(sliceError(t, "99999999999999999999").find("not a number"), std::string::npos);
    EXPECT_NE(sliceError(Tensor::scalar(1), "0").find("has 0 axes"), std::string::npos);
    EXPECT_NE(sliceError(t, ",").find("nothing between"), std::string::npos);
}

TEST(CopyBytes, GivesRowMajorBytesOfAnyViewAtAnyOffset) {
    const Tensor t = counting({3, 4});
    for (const char* slice : {"", ":, ::2", "::-1", ":, 1", "1:, 3:0:-1"}) {
        const Tensor view = applySlice(t, slice);
        const std::vector<double> values = view.to_vector();
        std::vector<float> expected(values.begin(), values.end());
        const auto* bytes = reinterpret_cast<const std::byte*>(expected.data());
        const std::size_t total = expected.size() * sizeof(float);
        for (const std::size_t offset : {0U, 1U, 6U, 11U}) {
            std::vector<std::byte> got(9, std::byte{0xAB});
            const std::size_t n = copyBytes(view, offset, got);
            ASSERT_EQ(n, offset < total ? std::min<std::size_t>(9, total - offset) : 0U)
                << slice << " " << offset;
            EXPECT_EQ(std::memcmp(got.data(), bytes + std::min(offset, total), n), 0)
                << slice << " " << offset;
            for (std::size_t i = n; i < got.size(); ++i) EXPECT_EQ(got[i], std::byte{0xAB});
        }
    }
    std::vector<std::byte> none(4);
    EXPECT_EQ(copyBytes(t, 48, none), 0U);
    EXPECT_EQ(copyBytes(t, std::numeric_limits<std::size_t>::max(), none), 0U);
    EXPECT_THROW(copyBytes(Tensor(), 0, none), Error);
}

/// Fails the test when an operator runs.
class NoOperators final : public Observer {
public:
    void onOpBegin(const OpCall& call) override { ADD_FAILURE() << call.op->name; }
};

TEST(Inspection, DispatchesNoOperatorOnTheWatchedContext) {
    Context context;
    const ContextScope scope(context);
    const Tensor t = counting({4, 4});
    NoOperators guard;
    context.addObserver(guard);
    std::vector<std::byte> bytes(16);
    const Tensor view = applySlice(t, "1:, ::-2");
    tensorStats(view, 10);
    copyBytes(view, 0, bytes);
    std::vector<float> values(3);
    copyElements<float>(view, 1, std::span(values));
    EXPECT_EQ(values, (std::vector<float>{5, 11, 9}));
    EXPECT_EQ(t.version(), 0U);
    context.removeObserver(guard);
}

}  // namespace
}  // namespace tapescope::engine::debug
