// SPDX-License-Identifier: Apache-2.0
#include "engine/observe/observer.h"

#include "engine/autograd/autograd.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace tapescope::engine {
namespace {

/// Writes what it hears as text.
class Listener : public Observer {
public:
    void onOpBegin(const OpCall& c) override {
        lines.push_back("begin " + std::string(c.op->name) + " " + std::string(phaseName(c.phase)));
        ids.push_back(c.id);
        EXPECT_TRUE(c.outputs.empty());
    }
    void onOpEnd(const OpCall& c) override {
        lines.push_back("end " + std::string(c.op->name) + " " + c.outputs[0].meta().toString());
        parents.push_back(c.parentId);
        lastSite = c.site;
        EXPECT_GE(c.endNs, c.startNs);
    }
    void onOpError(const OpCall& c, std::string_view message) override {
        lines.push_back("error " + std::string(c.op->name));
        lastError = message;
    }
    void onBackwardBegin(const BackwardFrame& f) override {
        lines.push_back("backward " + std::string(f.name) + " of " + std::to_string(f.forwardId));
    }
    void onGradReady(const Tensor& leaf) override {
        lines.push_back("grad " + leaf.meta().toString());
    }
    void onMemory(const MemoryEvent& e) override { memory.push_back(e); }

    std::vector<std::string> lines;
    std::vector<std::uint64_t> ids, parents;
    std::vector<MemoryEvent> memory;
    std::string lastError;
    Site lastSite = Site::none();
};

class Observed : public testing::Test {
protected:
    Observed() : m_scope(m_context) { m_context.addObserver(m_listener); }
    ~Observed() override { m_context.removeObserver(m_listener); }
    Context m_context;
    ContextScope m_scope;
    Listener m_listener;
};

TEST_F(Observed, ACallIsToldBeforeAndAfterWithItsPlace) {
    const Tensor x = Tensor::from<float>({1, 2}, {2});
    const Tensor y = relu(x);
    const unsigned line = __LINE__ - 1;
    EXPECT_EQ(m_listener.lines, (std::vector<std::string>{"begin relu other", "end relu f32[2]"}));
    EXPECT_STREQ(m_listener.lastSite.file, "tests/engine/observe/observer_test.cpp");
    EXPECT_EQ(m_listener.lastSite.line, line);
    (void)(x + y);
    EXPECT_EQ(m_listener.lastSite.line, static_cast<unsigned>(__LINE__ - 1));
}

TEST_F(Observed, BackwardNamesTheForwardCallAndItsSite) {
    const Tensor x = Tensor::from<double>({1, 2}, {2}).set_requires_grad(true);
    const Tensor y = sum(exp(x));
    const unsigned line = __LINE__ - 1;
    const std::uint64_t expId = m_listener.ids[0];
    m_listener.lines.clear();
    m_listener.parents.clear();
    y.backward();
    const std::string node = "backward exp of " + std::to_string(expId);
    const auto at = std::find(m_listener.lines.begin(), m_listener.lines.end(), node);
    ASSERT_NE(at, m_listener.lines.end()) << testing::PrintToString(m_listener.lines);
    EXPECT_EQ(*(at + 1), "begin mul backward");
    EXPECT_EQ(m_listener.parents.back(), expId);
    EXPECT_EQ(m_listener.lastSite.line, line);
    EXPECT_EQ(m_listener.lines.back(), "grad f64[2]");
}

TEST_F(Observed, AnErrorIsToldWithOperatorShapesAndSite) {
    const Tensor a = Tensor::empty({2, 3});
    const Tensor b = Tensor::empty({4});
    try {
        (void)add(a, b);
        FAIL();
    } catch (const ShapeError& e) {
        const std::string text = e.what();
        EXPECT_NE(text.find("add: "), std::string::npos) << text;
        EXPECT_NE(text.find("[2, 3]"), std::string::npos) << text;
        EXPECT_NE(text.find("[4]"), std::string::npos) << text;
        EXPECT_NE(text.find("at tests/engine/observe/observer_test.cpp:"), std::string::npos)
            << text;
        EXPECT_EQ(text, m_listener.lastError);
    }
    EXPECT_EQ(m_listener.lines.back(), "error add");
}

TEST_F(Observed, MemoryEventsBalanceAndNameTheOperator) {
    {
        const Tensor x = ones({1000});
        (void)exp(x);
    }
    std::int64_t live = 0;
    for (const MemoryEvent& e : m_listener.memory) {
        if (e.kind == MemoryEvent::Kind::Alloc) live += e.sizeBytes;
        if (e.kind == MemoryEvent::Kind::Free) live -= e.sizeBytes;
    }
    EXPECT_EQ(live, 0);
    std::vector<std::uint64_t> makers;
    for (const MemoryEvent& e : m_listener.memory) {
        if (e.kind == MemoryEvent::Kind::Alloc && e.sizeBytes >= 4000) makers.push_back(e.opId);
    }
    // The two tensors of 1000 floats, each made by its own call.
    EXPECT_EQ(makers, m_listener.ids);
}

TEST_F(Observed, AnObserverMayInterruptARunAndTheStateRecovers) {
    class Stopper : public Observer {
        void onOpBegin(const OpCall& c) override {
            if (c.op->name == "exp") throw Interrupted("enough");
        }
    } stopper;
    m_context.addObserver(stopper);
    const Tensor x = ones({2});
    EXPECT_THROW((void)exp(x), Interrupted);
    EXPECT_EQ(threadState().op, nullptr);
    m_context.removeObserver(stopper);
    EXPECT_NO_THROW((void)exp(x));
}

TEST_F(Observed, AnotherContextIsNotHeard) {
    Context other;
    const ContextScope scope(other);
    (void)ones({2});
    EXPECT_TRUE(m_listener.lines.empty());
    EXPECT_TRUE(m_listener.memory.empty());
}

TEST(Dispatch, ByNameOffersTheNearest) {
    const Tensor x = ones({2});
    const Tensor* inputs[] = {&x};
    EXPECT_EQ(call("relu", inputs, Attrs())[0].to_vector(), (std::vector<double>{1, 1}));
    try {
        (void)call("rleu", inputs, Attrs());
        FAIL();
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("did you mean relu"), std::string::npos) << e.what();
    }
}

}  // namespace
}  // namespace tapescope::engine
