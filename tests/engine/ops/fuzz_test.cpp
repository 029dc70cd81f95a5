// SPDX-License-Identifier: Apache-2.0
// Every operator with arguments nobody meant: real cases with a size, a dtype, the strides, an
// argument or a tensor changed. A call gives tensors that can be read, or throws the engine's own
// Error; anything else (another exception, a sanitizer's report, a crash) fails. TAPESCOPE_FUZZ=N
// sets the calls an operator (default 60), TAPESCOPE_FUZZ_SEED another series.
#include "engine/autograd/autograd.h"
#include "engine/errors.h"
#include "engine/memory/allocator.h"
#include "engine/observe/context.h"
#include "engine/ops/complex.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/tensor/tensor_impl.h"
#include "operator_case.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <random>

namespace tapescope::engine::test {
namespace {

constexpr std::int64_t kReadable = 1 << 20;  // larger results (views of one element) are not read
constexpr std::size_t kMemory = std::size_t{256} << 20;

int setting(const char* name, int otherwise) {
    const char* text = std::getenv(name);
    return text ? std::atoi(text) : otherwise;
}

class Fuzzer {
public:
    explicit Fuzzer(std::uint64_t seed) : m_random(seed) {}

    std::int64_t below(std::int64_t n) {
        return std::uniform_int_distribution<std::int64_t>(0, n - 1)(m_random);
    }
    bool oneIn(std::int64_t n) { return below(n) == 0; }
    /// A third of the calls keep the case's sizes, types and arguments: only values and layouts are
    /// odd.
    void startCall() { m_calm = oneIn(3); }
    bool changes(std::int64_t oneOf) { return !m_calm && oneIn(oneOf); }

    DType dtype() { return static_cast<DType>(below(kDTypeCount)); }

    std::int64_t integer() {
        constexpr std::int64_t kOdd[] = {-2,
                                         -1,
                                         0,
                                         1,
                                         2,
                                         3,
                                         5,
                                         64,
                                         -100,
                                         1 << 20,
                                         std::int64_t{1} << 33,
                                         std::numeric_limits<std::int64_t>::max(),
                                         std::numeric_limits<std::int64_t>::min()};
        return kOdd[below(std::size(kOdd))];
    }
    double real() {
        constexpr double kOdd[] = {0,
                                   1,
                                   -1,
                                   0.5,
                                   2,
                                   1e-30,
                                   1e30,
                                   -1e300,
                                   std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN()};
        return kOdd[below(std::size(kOdd))];
    }
    Dims dims(int rank, bool odd) {
        Dims out;
        for (int i = 0; i < rank; ++i) out.push_back(odd && oneIn(3) ? integer() : below(4));
        return out;
    }

    /// Values as a case has them, or odd ones, in some layout.
    Tensor tensor(const Dims& sizes, DType type, const CaseValue* like) {
        Dims stored = sizes;
        const int layout = oneIn(m_calm ? 4 : 2) ? static_cast<int>(below(4)) : 0;
        if (layout == 1)
            for (int d = 0; d < stored.size(); ++d) stored[d] = 2 * stored[d] + 1;
        if (layout == 2 && stored.size() >= 2) std::swap(stored[0], stored[stored.size() - 1]);
        std::vector<double> values(static_cast<std::size_t>(numelOf(stored)));
        for (double& v : values) {
            if (like && !like->values.empty() && !oneIn(20))
                v = like->values[static_cast<std::size_t>(
                    below(static_cast<std::int64_t>(like->values.size())))];
            else
                v = isDifferentiable(type) ? real() : static_cast<double>(below(9) - 3);
        }
        Tensor t = to(Tensor::from<double>(values, stored), type);
        if (layout == 1)
            for (int d = 0; d < sizes.size(); ++d) t = slice(t, d, 1, 2 * sizes[d] + 1, 2);
        if (layout == 2 && stored.size() >= 2) t = transpose(t, 0, stored.size() - 1);
        if (layout == 3 && sizes.size() >= 1 && sizes[0] > 0)
            t = expand(narrow(t, 0, 0, 1), sizes);  // stride 0
        return t;
    }

    Tensor input(const CaseValue& like) {
        if (like.absent) return changes(8) ? tensor(dims(2, false), DType::F32, nullptr) : Tensor();
        if (changes(40)) return {};
        if (changes(40)) return wrappedNumber(real());
        Dims sizes = like.sizes;
        if (changes(4) && sizes.size() > 0) {
            const auto d = static_cast<int>(below(sizes.size()));
            sizes[d] = below(5);
        }
        if (changes(15)) sizes = dims(static_cast<int>(below(6)), false);
        return tensor(sizes, changes(6) ? dtype() : like.dtype, &like);
    }

    AttrValue attribute(const AttrValue& like) {
        if (!changes(4)) return like;
        if (oneIn(12)) return std::monostate{};
        switch (like.index()) {
            case 1:
                return oneIn(2);
            case 2:
                return integer();
            case 3:
                return real();
            case 4: {
                Dims d = std::get<Dims>(like);
                if (d.empty() || oneIn(4)) return dims(static_cast<int>(below(5)), true);
                d[static_cast<int>(below(d.size()))] = integer();
                return d;
            }
            case 5:
                return dtype();
            default:
                return like;
        }
    }

private:
    std::mt19937_64 m_random;
    bool m_calm = false;
};

/// Reads what a call gave: a sanitizer sees whether it may.
void read(const Tensor& t) {
    if (!t.defined() || t.numel() > kReadable) return;
    if (is_complex(t))
        t.to_vector<Complex64>();
    else
        t.to_vector();
}

class FuzzedOperator : public testing::TestWithParam<std::string> {};

TEST_P(FuzzedOperator, GivesTensorsOrTheEnginesError) {
    const OpDef& op = *OpTable::instance().find(GetParam());
    static const auto casesByName = [] {
        std::map<std::string, std::vector<const OperatorCase*>> map;
        for (const OperatorCase& c : operatorCases()) map[c.op].push_back(&c);
        return map;
    }();
    const auto& cases = casesByName.at(GetParam());
    std::uint64_t seed = static_cast<std::uint64_t>(setting("TAPESCOPE_FUZZ_SEED", 1));
    for (const char c : GetParam()) seed = seed * 31 + static_cast<unsigned char>(c);
    Fuzzer fuzz(seed);
    // A size beyond all reason must be refused here, not by the machine.
    CachingAllocator memory({.limitBytes = kMemory});
    Context context(memory);
    const ContextScope scope(context);
    const int calls = setting("TAPESCOPE_FUZZ", 60);
    int done = 0;
    for (int i = 0; i < calls; ++i) {
        const OperatorCase& like =
            *cases[static_cast<std::size_t>(fuzz.below(static_cast<std::int64_t>(cases.size())))];
        SCOPED_TRACE(like.place + ", call " + std::to_string(i));
        fuzz.startCall();
        std::vector<Tensor> inputs;
        for (const CaseValue& value : like.inputs) inputs.push_back(fuzz.input(value));
        if (fuzz.changes(30) && !inputs.empty()) inputs.pop_back();
        if (fuzz.changes(30)) inputs.push_back(fuzz.tensor({2}, DType::F32, nullptr));
        Attrs attrs;
        for (int k = 0; k < like.attrs.size(); ++k) attrs.push_back(fuzz.attribute(like.attrs[k]));
        const bool backward = op.vjp && !op.inplace && fuzz.oneIn(2);
        std::vector<const Tensor*> pointers;
        for (Tensor& t : inputs) {
            if (backward && t.defined() && isDifferentiable(t.dtype()) && !t.impl()->wrappedNumber)
                t = t.detach().set_requires_grad(true);
            pointers.push_back(&t);
        }
        try {
            Outputs out = call(GetParam(), pointers, attrs, Site::none());
            ASSERT_LE(out.count, kMaxOutputs);
            for (const Tensor& t : out.span()) read(t);
            for (const Tensor& t : inputs) read(t);
            if (backward && out.count > 0 && out[0].requires_grad() &&
                out[0].numel() <= kReadable) {
                sum(is_complex(out[0]) ? view_as_real(out[0]) : out[0]).backward();
                for (const Tensor& t : inputs) {
                    if (t.defined() && t.is_leaf()) read(t.grad());
                }
            }
            ++done;
        } catch (const Error& error) {
            EXPECT_GT(std::string(error.what()).size(), 10U);
        } catch (const std::exception& other) {
            ADD_FAILURE() << GetParam() << " threw no engine::Error but: " << other.what();
        }
    }
    // Where nothing goes through, nothing was tested.
    if (calls >= 60) {
        EXPECT_GT(done, 0);
    }
}

std::vector<std::string> allNames() {
    std::vector<std::string> list;
    for (const OpDef* row : OpTable::instance().rows()) list.emplace_back(row->name);
    return list;
}
std::string testName(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    if (name.ends_with('_')) name += "inplace";
    return name;
}
INSTANTIATE_TEST_SUITE_P(Table, FuzzedOperator, testing::ValuesIn(allNames()), testName);

}  // namespace
}  // namespace tapescope::engine::test
