// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/cupti/clock_map.h"
#include "profiler/cupti/collector.h"
#include "tests/profiler/cupti/fakes/fake_api.h"
#include "tests/profiler/cupti/fakes/fake_records.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tapescope::profiler::cupti {

inline std::string fakeFile(const std::string& name) {
    return std::string(TAPESCOPE_FAKES) + "/" + name;
}
inline const std::string kFakeCupti13 = fakeFile("libcupti.so.13");
inline const std::string kFakeCupti12 = fakeFile("libcupti.so.12");

/// CUPTI is one a process, so each test runs in one of its own: also when the binary is run by
/// hand.
inline void isolated(const std::function<void()>& body) {
    std::fflush(nullptr);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        alarm(120);
        body();
        std::fflush(nullptr);
        const int code = testing::Test::HasFailure() ? 1 : 0;
        // ThreadSanitizer says at exit whether it has found something.
        if (std::string_view(TAPESCOPE_SANITIZED) == "thread") std::exit(code);
        // Without destructors: what a hanging flush left behind still runs.
        _exit(code);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0) << "see the failures above";
}
#define CUPTI_TEST(suite, name)                        \
    static void suite##name##Body();                   \
    TEST(suite, name) { isolated(suite##name##Body); } \
    static void suite##name##Body()

/// What a MemorySink has got; outlives it.
struct Recorded {
    std::vector<storage::GpuEvent> events;
    std::map<std::string, storage::NameId, std::less<>> ids;
    std::vector<std::string> names{""};
    std::vector<storage::GpuDevice> devices;
    std::vector<storage::GpuContext> contexts;
    std::vector<storage::GpuStream> streams;
    std::vector<storage::GpuObjectName> objectNames;
    std::vector<std::pair<State, std::string>> states;
    std::map<std::string, std::string> facts;
    std::vector<storage::GpuSummary> summaries;
    Counters counters;
    std::int64_t clockErrorNs = -1;
    bool closed = false;
    Stored answer = Stored::Yes;  ///< what events() says

    std::size_t count(storage::GpuEventKind kind) const {
        std::size_t n = 0;
        for (const auto& e : events) n += e.kind == kind ? 1 : 0;
        return n;
    }
    std::vector<storage::GpuEvent> of(storage::GpuEventKind kind) const {
        std::vector<storage::GpuEvent> out;
        for (const auto& e : events) {
            if (e.kind == kind) out.push_back(e);
        }
        return out;
    }
};

class MemorySink final : public Sink {
public:
    explicit MemorySink(Recorded& to) : m_to(to) {}
    storage::GpuProcessId process() const override { return 3; }
    std::int64_t monotonicZeroNs() const override { return 0; }
    storage::NameId name(std::string_view text) override {
        const auto found = m_to.ids.find(text);
        if (found != m_to.ids.end()) return found->second;
        m_to.names.emplace_back(text);
        const auto id = static_cast<storage::NameId>(m_to.names.size() - 1);
        m_to.ids.emplace(text, id);
        return id;
    }
    Stored events(std::vector<storage::GpuEvent> batch) override {
        if (m_to.answer == Stored::Yes)
            m_to.events.insert(m_to.events.end(), batch.begin(), batch.end());
        return m_to.answer;
    }
    void device(storage::GpuDevice row) override { m_to.devices.push_back(std::move(row)); }
    void context(storage::GpuContext row) override { m_to.contexts.push_back(row); }
    void stream(storage::GpuStream row) override { m_to.streams.push_back(row); }
    void objectName(storage::GpuObjectName row) override {
        m_to.objectNames.push_back(std::move(row));
    }
    void status(State state, const std::string& detail) override {
        m_to.states.emplace_back(state, detail);
    }
    void fact(const std::string& key, const std::string& value) override {
        m_to.facts[key] = value;
    }
    void clockError(std::int64_t errorNs) override { m_to.clockErrorNs = errorNs; }
    void counters(const Counters& counters) override { m_to.counters = counters; }
    void summary(std::vector<storage::GpuSummary> rows) override {
        for (const auto& row : rows) {
            const auto same = [&](const storage::GpuSummary& s) {
                return s.kind == row.kind && s.name == row.name && s.device == row.device;
            };
            std::erase_if(m_to.summaries, same);
            m_to.summaries.push_back(row);
        }
    }
    std::string problem() const override { return "the disk is full"; }
    void close() override { m_to.closed = true; }

private:
    Recorded& m_to;
};

using Environment = std::vector<std::pair<const char*, const char*>>;

/// A started collector on the fakes.
struct Run {
    explicit Run(const Environment& environment = {}, CollectorOptions options = {})
        : collector(prepare(environment, std::move(options)), [this]() {
              return storage::Result<std::unique_ptr<Sink>>(std::make_unique<MemorySink>(got));
          }) {
        started = collector.start();
        fake = fake::Cupti(collector.library().handle);
    }
    static CollectorOptions prepare(const Environment& environment, CollectorOptions options) {
        for (const auto& [name, value] : environment) setenv(name, value, 1);
        // The loader then has a libcuda.so.1, whatever the machine has.
        EXPECT_NE(dlopen(fakeFile("libcuda.so.1").c_str(), RTLD_NOW | RTLD_GLOBAL), nullptr);
        if (options.cuptiPath.empty()) options.cuptiPath = kFakeCupti13;
        return options;
    }
    void kernel(const char* name, std::uint32_t correlation, std::uint64_t start,
                std::uint64_t end) const {
        fake.emit(fake::kernelRecord(name, correlation, start, end));
    }
    std::string nameOf(const storage::GpuEvent& e) const { return got.names.at(e.name); }
    State lastState() const { return got.states.empty() ? State::Ok : got.states.back().first; }

    Recorded got;  ///< read it after collector.stop()
    Collector collector;
    State started = State::InternalError;
    fake::Cupti fake;
};

}  // namespace tapescope::profiler::cupti
