// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/strided.h"

#include "engine/cpu/copy.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/tensor/tensor_impl.h"

#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

extern "C" void omp_set_num_threads(int);

namespace tapescope::engine::cpu {
namespace {

TEST(PlanStrided, MergesDenseDimensionsIntoOneRow) {
    const auto plan = planStrided<2>({2, 3, 4}, {Dims{12, 4, 1}, Dims{12, 4, 1}});
    EXPECT_EQ(plan.rank, 1);
    EXPECT_EQ(plan.innerSize(), 24);
}

TEST(PlanStrided, MergesEqualTransposedLayoutsToo) {
    const auto plan = planStrided<2>({3, 4}, {Dims{1, 3}, Dims{1, 3}});
    EXPECT_EQ(plan.rank, 1);
    EXPECT_EQ(plan.innerSize(), 12);
    EXPECT_EQ(plan.innerStride(0), 1);
}

TEST(PlanStrided, KeepsBroadcastDimensionsApart) {
    const auto plan = planStrided<2>({2, 3}, {Dims{3, 1}, Dims{0, 1}});
    EXPECT_EQ(plan.rank, 2);
    EXPECT_EQ(plan.innerSize(), 3);
    EXPECT_EQ(plan.strides[1][1], 0);
}

TEST(PlanStrided, DropsDimensionsOfSizeOne) {
    const auto plan = planStrided<1>({1, 5, 1}, {Dims{7, 2, 9}});
    EXPECT_EQ(plan.rank, 1);
    EXPECT_EQ(plan.innerStride(0), 2);
}

TEST(ForEachRow, StartsInTheMiddleOfARow) {
    const auto plan = planStrided<1>({3, 4}, {Dims{10, 1}});
    std::vector<std::int64_t> visited;
    forEachRow(plan, 2, 9, [&](const std::array<std::int64_t, 1>& at, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) visited.push_back(at[0] + i);
    });
    EXPECT_EQ(visited, (std::vector<std::int64_t>{2, 3, 10, 11, 12, 13, 20}));
}

TEST(ParallelFor, CutsByCountAndGrainOnly) {
    std::vector<std::int64_t> starts(5, -1);
    parallelFor(41, 10, [&](std::int64_t begin, std::int64_t end) {
        starts[static_cast<std::size_t>(begin / 10)] = end - begin;
    });
    EXPECT_EQ(starts, (std::vector<std::int64_t>{10, 10, 10, 10, 1}));
}

/// A seeded view of up to four dimensions, permuted and with steps.
Tensor randomView(std::mt19937& random, DType dtype) {
    Dims sizes;
    const int rank = 1 + static_cast<int>(random() % 4);
    for (int d = 0; d < rank; ++d) sizes.push_back(1 + static_cast<std::int64_t>(random() % 9));
    if (random() % 3 == 0) sizes[0] = 40 + static_cast<std::int64_t>(random() % 60);
    const std::int64_t n = numelOf(sizes);
    const Tensor base = Tensor::empty({2 * n + 1}, dtype);
    visitDType(dtype, [&]<class T>() {
        for (std::int64_t i = 0; i < base.numel(); ++i)
            base.data<T>()[i] = static_cast<T>(static_cast<int>(random() % 17) - 8);
    });
    Dims strides = contiguousStrides(sizes);
    const std::int64_t step = 1 + static_cast<std::int64_t>(random() % 2);
    for (std::int64_t& s : strides) s *= step;
    Tensor view = makeView(base, sizes, strides, 0);
    Dims order;
    std::vector<std::int64_t> shuffled(static_cast<std::size_t>(rank));
    std::iota(shuffled.begin(), shuffled.end(), 0);
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    for (const std::int64_t d : shuffled) order.push_back(d);
    return permute(view, order);
}

TEST(CopyTensor, EqualsElementByElementCopyForSeededViews) {
    std::mt19937 random(11);
    for (int round = 0; round < 400; ++round) {
        const DType types[] = {DType::Bool, DType::I64, DType::F32, DType::F64};
        const Tensor source = randomView(random, types[random() % 4]);
        const Tensor out = Tensor::empty(source.sizes(), types[random() % 4]);
        copyTensor(out, source);
        const auto got = out.to_vector<double>();
        auto want = source.to_vector<double>();
        if (out.dtype() == DType::Bool) {
            for (double& v : want) v = v != 0;
        }
        ASSERT_EQ(got, want) << "round " << round << " " << source.meta().toString();
    }
}

TEST(CopyTensor, TransposesLargeMatricesInTiles) {
    const Tensor x = reshape(arange(0, 129 * 257), {129, 257});
    const Tensor y = contiguous(transpose(x, 0, 1));
    const auto* data = y.data<std::int64_t>();
    for (std::int64_t i = 0; i < 257; ++i) {
        for (std::int64_t j = 0; j < 129; ++j) ASSERT_EQ(data[i * 129 + j], j * 257 + i);
    }
}

/// Sums by index arithmetic alone.
std::vector<double> naiveSum(const Tensor& x, const std::vector<bool>& reduced) {
    const auto values = x.to_vector<double>();
    std::int64_t outputs = 1;
    for (int d = 0; d < x.dim(); ++d) {
        if (!reduced[static_cast<std::size_t>(d)]) outputs *= x.sizes()[d];
    }
    std::vector<double> sums(static_cast<std::size_t>(outputs), 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) {
        auto rest = static_cast<std::int64_t>(i);
        std::int64_t output = 0;
        std::int64_t scale = 1;
        for (int d = x.dim() - 1; d >= 0; --d) {
            const std::int64_t index = rest % x.sizes()[d];
            rest /= x.sizes()[d];
            if (reduced[static_cast<std::size_t>(d)]) continue;
            output += index * scale;
            scale *= x.sizes()[d];
        }
        sums[static_cast<std::size_t>(output)] += values[i];
    }
    return sums;
}

TEST(Reduction, EqualsTheNaiveSumForSeededViewsAndDimensions) {
    std::mt19937 random(12);
    for (int round = 0; round < 600; ++round) {
        const Tensor x = randomView(random, random() % 2 ? DType::F32 : DType::I64);
        std::vector<bool> reduced;
        Dims dims;
        for (int d = 0; d < x.dim(); ++d) {
            reduced.push_back(random() % 2 == 0);
            if (reduced.back()) dims.push_back(d);
        }
        if (dims.empty()) continue;
        const auto got = sum(x, dims).to_vector<double>();
        ASSERT_EQ(got, naiveSum(x, reduced))
            << "round " << round << " " << x.meta().toString() << " over " << toString(dims);
    }
}

// Integers are exact, so any order of adding gives one result: this checks that every element is
// taken once where work is split into chunks.
TEST(Reduction, TakesEveryElementOfLargeTensorsOnce) {
    for (const Dims& sizes : {Dims{300000}, Dims{70000, 3}, Dims{3, 70000}, Dims{5, 2100, 31}}) {
        const std::int64_t n = numelOf(sizes);
        const Tensor x = reshape(arange(0, static_cast<double>(n)), sizes);
        EXPECT_EQ(sum(x).item(), static_cast<double>(n) * static_cast<double>(n - 1) / 2)
            << toString(sizes);
        for (int d = 0; d < sizes.size(); ++d) {
            std::vector<bool> reduced(static_cast<std::size_t>(sizes.size()), false);
            reduced[static_cast<std::size_t>(d)] = true;
            ASSERT_EQ(sum(x, {d}).to_vector<double>(), naiveSum(x, reduced))
                << toString(sizes) << " over " << d;
        }
    }
}

TEST(Reduction, DoesNotDependOnTheNumberOfThreads) {
    const Tensor vector = randn({300001});
    const Tensor matrix = randn({5000, 67});
    std::vector<std::vector<float>> results;
    for (const int threads : {1, 2, 3}) {
        omp_set_num_threads(threads);
        std::vector<float> all;
        for (const Tensor& t : {sum(vector), mean(matrix), sum(matrix, {0}), sum(matrix, {1}),
                                var(matrix, {0}), norm(vector), logsumexp(matrix, {0})}) {
            const auto values = t.to_vector<float>();
            all.insert(all.end(), values.begin(), values.end());
        }
        results.push_back(all);
    }
    omp_set_num_threads(2);
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
}

}  // namespace
}  // namespace tapescope::engine::cpu
