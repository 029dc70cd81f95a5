// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/complex.h"

#include "engine/autograd/anomaly.h"
#include "engine/autograd/autograd.h"
#include "engine/debug/slice.h"
#include "engine/debug/tensor_bytes.h"
#include "engine/debug/tensor_stats.h"
#include "engine/errors.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "message_of.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <vector>

namespace tapescope::engine {
namespace {

using test::messageOf;

using Numbers = std::vector<Complex64>;
using Values = std::vector<double>;

Tensor numbers(const Numbers& values) {
    return Tensor::from<Complex64>(values, {static_cast<std::int64_t>(values.size())});
}

TEST(Complex, IsReadAsNumbersOrNotAtAll) {
    const Tensor z = numbers({{1, 2}, {-3, 0}});
    EXPECT_EQ(z.dtype(), DType::C64);
    EXPECT_EQ(z.nbytes(), 16U);
    EXPECT_TRUE(is_complex(z));
    EXPECT_EQ(z.to_vector<Complex64>(), (Numbers{{1, 2}, {-3, 0}}));
    EXPECT_EQ(Tensor::from<float>({4, 5}, {2}).to_vector<Complex64>(), (Numbers{{4, 0}, {5, 0}}));
    EXPECT_EQ(select(z, 0, 1).item(), -3);
    EXPECT_NE(messageOf([&] { select(z, 0, 0).item(); }).find("1+2j"), std::string::npos);
    EXPECT_THROW(z.to_vector(), DTypeError);
    EXPECT_THROW(z.data<float>(), DTypeError);
    EXPECT_EQ(complexText({0.5F, -0.25F}), "0.5-0.25j");
    EXPECT_EQ(complexText({NAN, INFINITY}), "nan+infj");
}

TEST(Complex, PrintsAsPyTorch) {
    EXPECT_EQ(numbers({{0.1F, 2}, {-1.5F, -0.25F}}).to_string(),
              "tensor([ 0.1000+2.0000j, -1.5000-0.2500j], c64[2])");
    EXPECT_EQ(numbers({{1, 2}, {-3, 0}}).to_string(), "tensor([ 1.+2.j, -3.+0.j], c64[2])");
    EXPECT_EQ(Tensor::from<Complex64>({Complex64(1.5F, -1)}, {}).to_string(),
              "tensor(1.5000-1.j, c64[])");
    EXPECT_EQ(zeros({0}, {.dtype = DType::C64}).to_string(), "tensor([], c64[0])");
    const Tensor long1 = zeros({2000}, {.dtype = DType::C64});
    EXPECT_NE(long1.to_string().find("…"), std::string::npos);
}

TEST(Complex, PromotesAsPyTorch) {
    const Tensor z = numbers({{1, 2}, {3, 4}});
    for (const DType dtype : kAllDTypes) {
        if (dtype == DType::F64) continue;
        EXPECT_EQ(promoteTypes(dtype, DType::C64), DType::C64) << dtypeName(dtype);
        EXPECT_EQ(add(z, ones({2}, {.dtype = dtype})).dtype(), DType::C64) << dtypeName(dtype);
    }
    const Tensor doubles = ones({2}, {.dtype = DType::F64});
    EXPECT_NE(messageOf([&] { add(z, doubles); }).find("complex128"), std::string::npos);
    EXPECT_THROW(add(doubles, wrappedNumber(std::complex<double>(0, 1))), DTypeError);
    // What does not decide the type may be float64.
    EXPECT_EQ(add(z, Tensor::scalar(1, DType::F64)).dtype(), DType::C64);
    EXPECT_EQ(add(z, 1.5).dtype(), DType::C64);
    EXPECT_EQ(add_(clone(z), doubles).to_vector<Complex64>(), (Numbers{{2, 2}, {4, 4}}));
    EXPECT_EQ(add(ones({2}), wrappedNumber(std::complex<double>(0, 1))).to_vector<Complex64>(),
              (Numbers{{1, 1}, {1, 1}}));
    EXPECT_THROW(add_(ones({2}), z), DTypeError);
}

TEST(Complex, PartsAreViewsThatCanBeWritten) {
    const Tensor z = numbers({{1, 2}, {3, 4}});
    fill_(real(z), 7);
    zero_(imag(z));
    EXPECT_EQ(z.to_vector<Complex64>(), (Numbers{{7, 0}, {7, 0}}));
    const Tensor pairs = view_as_real(z);
    EXPECT_EQ(pairs.storage(), z.storage());
    fill_(select(pairs, 1, 1), 5);
    EXPECT_EQ(z.to_vector<Complex64>(), (Numbers{{7, 5}, {7, 5}}));
    EXPECT_TRUE(same(real(pairs), pairs));
    EXPECT_TRUE(same(conj(pairs), pairs));
}

TEST(Complex, WritesThroughPartsReachTheGraph) {
    Tensor x = numbers({{1, 2}, {3, 4}}).set_requires_grad(true);
    const Tensor z = mul(x, 2.0);
    mul_(real(z), wrappedNumber(10.0));
    sum(view_as_real(z)).backward();
    EXPECT_EQ(x.grad().to_vector<Complex64>(), (Numbers{{20, 2}, {20, 2}}));
    Tensor r = Tensor::from<float>({1, 2, 3, 4}, {2, 2}).set_requires_grad(true);
    const Tensor pairs = mul(r, 1.0);
    mul_(view_as_complex(pairs), wrappedNumber(std::complex<double>(0, 1)));
    sum(mul(pairs, Tensor::from<float>({1, 10}, {2}))).backward();
    // (a + bi) i = -b + ai: the loss is -b + 10 a.
    EXPECT_EQ(r.grad().to_vector(), (Values{10, -1, 10, -1}));
}

TEST(Complex, RefusesPairsThatDoNotLieAsNumbers) {
    const Tensor x = ones({3, 4});
    EXPECT_NE(messageOf([&] { view_as_complex(x); }).find("size 2"), std::string::npos);
    EXPECT_THROW(view_as_complex(narrow(x, 1, 1, 2)), ShapeError);  // an odd place
    EXPECT_THROW(view_as_complex(transpose(ones({2, 3}), 0, 1)), ShapeError);
    EXPECT_THROW(view_as_complex(ones({})), ShapeError);
    EXPECT_THROW(view_as_complex(ones({2}, {.dtype = DType::F64})), DTypeError);
    EXPECT_THROW(complex(ones({2}, {.dtype = DType::F64}), ones({2})), DTypeError);
    EXPECT_THROW(complex(ones({2}), ones({3})), ShapeError);
    EXPECT_THROW(view_as_real(zeros({1, 1, 1, 1, 1, 1, 1, 1}, {.dtype = DType::C64})), ShapeError);
    EXPECT_EQ(view_as_complex(narrow(x, 1, 2, 2)).to_vector<Complex64>(),
              (Numbers{{1, 1}, {1, 1}, {1, 1}}));
}

TEST(Complex, OperatorsWithoutItSaySo) {
    const Tensor z = numbers({{1, 2}, {3, 4}});
    for (const auto& message : {messageOf([&] { sin(z); }), messageOf([&] { relu(z); }),
                                messageOf([&] { maximum(z, z); }), messageOf([&] { lt(z, z); }),
                                messageOf([&] { prod(z); }), messageOf([&] { amax(z); })})
        EXPECT_NE(message.find("complex64"), std::string::npos) << message;
    EXPECT_NE(messageOf([&] { lt(z, z); }).find("lt: complex64 is not supported"),
              std::string::npos);
}

TEST(Complex, GradientsAreConjugateAsInPyTorch) {
    // |z|^2: the gradient points along z, not along its conjugate.
    Tensor z = numbers({{1, 2}, {-3, 0.5F}}).set_requires_grad(true);
    sum(real(mul(z, conj(z)))).backward();
    EXPECT_EQ(z.grad().to_vector<Complex64>(), (Numbers{{2, 4}, {-6, 1}}));
    // A real operand gets a real gradient.
    Tensor r = Tensor::from<float>({2}, {1}).set_requires_grad(true);
    sum(imag(mul(r, numbers({{1, 3}})))).backward();
    EXPECT_EQ(r.grad().dtype(), DType::F32);
    EXPECT_EQ(r.grad().to_vector(), (Values{3}));
    EXPECT_NE(messageOf([&] { sum(z).backward(); }).find("complex64"), std::string::npos);
    EXPECT_THROW(sum(z).backward(ones({})), DTypeError);
    EXPECT_THROW(sum(abs(z)).backward(ones({}, {.dtype = DType::C64})), DTypeError);
}

TEST(Complex, AnomalyModeFindsNaN) {
    Tensor z = numbers({{0, 0}, {1, 1}}).set_requires_grad(true);
    const DetectAnomaly guard;
    const Tensor y = sum(abs(div(z, numbers({{0, 0}, {1, 0}}))));
    EXPECT_THROW(y.backward(), AutogradError);
}

TEST(Complex, IsInspectedByMagnitude) {
    const Tensor z = numbers({{3, 4}, {0, -1}, {INFINITY, 0}, {NAN, 0}});
    const debug::TensorStats stats = debug::tensorStats(z, 4);
    EXPECT_TRUE(stats.magnitudes);
    EXPECT_EQ(stats.numel, 4);
    EXPECT_EQ(stats.nanCount, 1);
    EXPECT_EQ(stats.infCount, 1);
    EXPECT_EQ(stats.min, 1);
    EXPECT_EQ(stats.max, 5);
    EXPECT_EQ(stats.mean, 3);
    EXPECT_EQ(stats.counts, (std::vector<std::int64_t>{1, 0, 0, 1}));
    EXPECT_FALSE(debug::tensorStats(real(z)).magnitudes);
    const Tensor back = debug::applySlice(z, "1::-1");
    float read[4] = {};
    EXPECT_EQ(debug::copyBytes(back, 0, std::as_writable_bytes(std::span(read))), 16U);
    const float want[4] = {0, -1, 3, 4};
    EXPECT_EQ(std::memcmp(read, want, sizeof want), 0);
    EXPECT_EQ(debug::copyBytes(back, 4, std::as_writable_bytes(std::span(read, 2))), 8U);
    EXPECT_EQ(read[0], -1);
    EXPECT_EQ(read[1], 3);
}

}  // namespace
}  // namespace tapescope::engine
