// SPDX-License-Identifier: Apache-2.0
// Every way in which tracing can fail to start, or fall silent: the code and the sentence.
#include "tests/profiler/cupti/cupti_support.h"

#include <set>

namespace tapescope::profiler::cupti {
namespace {

TEST(State, EachHasACodeOfItsOwnAndASentenceWithARemedy) {
    std::set<std::string_view> codes;
    for (int i = 0; i < kStateCount; ++i) {
        const auto state = static_cast<State>(i);
        codes.insert(stateCode(state));
        const std::string message = stateMessage(state, "DETAIL");
        EXPECT_NE(message.find(" (DETAIL)."), std::string::npos) << message;
        EXPECT_EQ(message.rfind("GPU tracing ", 0), 0U) << message;
        EXPECT_EQ(message.back(), '.') << message;
    }
    EXPECT_EQ(codes.size(), static_cast<std::size_t>(kStateCount));
}

void expectState(State expected, const std::string& inMessage, const Environment& environment,
                 CollectorOptions options = {}) {
    Run run(environment, std::move(options));
    EXPECT_EQ(run.started, expected) << run.collector.message();
    EXPECT_NE(run.collector.message().find(inMessage), std::string::npos)
        << run.collector.message();
    run.collector.stop();
    ASSERT_EQ(run.got.states.size(), 1U);
    EXPECT_EQ(run.got.states[0].first, expected);
    EXPECT_TRUE(run.got.closed);
}

CUPTI_TEST(State, Busy) {
    expectState(State::Busy, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
                {{"FAKE_CUPTI_SUBSCRIBE_RC", "39"}, {"FAKE_CUPTI_VERSION", "130200"}});
}
CUPTI_TEST(State, BusyNamesTheOtherTool) {
    Run::prepare({}, {});
    void* library = dlopen(kFakeCupti13.c_str(), RTLD_NOW);
    ASSERT_NE(library, nullptr);
    void* handle = nullptr;
    const auto subscribe =
        reinterpret_cast<int (*)(void**, abi::Callback, void*)>(dlsym(library, "cuptiSubscribe"));
    ASSERT_EQ(subscribe(
                  &handle, [](void*, int, std::uint32_t, const void*) {}, nullptr),
              0);
    expectState(State::Busy, "CUPTI for fake Nsight", {});
}
CUPTI_TEST(State, NoPermission) {
    expectState(State::NoPermission, "NVreg_RestrictProfilingToAdminUsers=0",
                {{"FAKE_CUPTI_SUBSCRIBE_RC", "35"}});
}
CUPTI_TEST(State, NoPermissionForOneKind) {
    expectState(State::NoPermission, "kernels: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
                {{"FAKE_CUPTI_ENABLE_RC", "10:35"}});
}
CUPTI_TEST(State, SomeKindsFail) {
    expectState(State::EnableFailed, "synchronisation: CUPTI_ERROR_OTHER",
                {{"FAKE_CUPTI_ENABLE_RC", "50:27,38:27"}});
}
CUPTI_TEST(State, AVirtualGpu) {
    expectState(State::EnvironmentUnsupported, "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED",
                {{"FAKE_CUPTI_SUBSCRIBE_RC", "33"}});
}
CUPTI_TEST(State, NoDevice) {
    expectState(State::NoDevice, "CUDA_VISIBLE_DEVICES",
                {{"FAKE_CUPTI_SUBSCRIBE_RC", "999"}, {"FAKE_CUDA_NO_DEVICE", "1"}});
}
CUPTI_TEST(State, NoDeviceAsCupti12SaysIt) {
    expectState(State::NoDevice, "CUPTI_ERROR_NOT_INITIALIZED",
                {{"FAKE_CUPTI_SUBSCRIBE_RC", "15"},
                 {"FAKE_CUDA_NO_DEVICE", "1"},
                 {"FAKE_CUPTI_VERSION", "22"}});
}
CUPTI_TEST(State, DriverTooOld) {
    expectState(State::DriverTooOld, "CUPTI of CUDA 13.2 on a driver for CUDA 13.0",
                {{"FAKE_CUPTI_SUBSCRIBE_RC", "15"},
                 {"FAKE_CUPTI_VERSION", "130200"},
                 {"FAKE_CUDA_VERSION", "13000"}});
}
CUPTI_TEST(State, CuptiDoesNotStart) {
    expectState(State::InternalError, "CUPTI_ERROR_UNKNOWN", {{"FAKE_CUPTI_SUBSCRIBE_RC", "999"}});
}
CUPTI_TEST(State, CuptiNewerThanTheDriver) {
    expectState(State::CuptiNewerThanDriver,
                "is of CUDA 13.0 (CUPTI patch 1), the driver supports CUDA 12.4",
                {{"FAKE_CUDA_VERSION", "12040"}});
}
CUPTI_TEST(State, CuptiTooOld) {
    expectState(State::CuptiTooOld, "CUPTI API 15", {{"FAKE_CUPTI_VERSION", "15"}});
}
CUPTI_TEST(State, AClockThatIsNotTheSystems) {
    expectState(State::ClockUnknown, "clock", {{"FAKE_CUPTI_CLOCK", "monotonic"}});
}
CUPTI_TEST(State, NoCupti) {
    CollectorOptions options;
    options.cuptiPath = "/nonexistent/libcupti.so";
    // A driver of CUDA 11.8: this machine's own libcupti, if it has one, is of another name.
    expectState(State::NoCupti, "tried /nonexistent/libcupti.so, libcupti.so.11.8",
                {{"FAKE_CUDA_VERSION", "11080"}}, options);
}
CUPTI_TEST(State, CuptiIncomplete) {
    CollectorOptions options;
    options.cuptiPath = fakeFile("libcuda.so.1");  // a library, but not that one
    expectState(State::CuptiIncomplete, "cuptiGetVersion", {}, options);
}
CUPTI_TEST(State, CuptiTwice) {
    ASSERT_NE(dlopen(kFakeCupti12.c_str(), RTLD_NOW), nullptr);
    ASSERT_NE(dlopen(kFakeCupti13.c_str(), RTLD_NOW), nullptr);
    expectState(State::CuptiTwice, "LD_LIBRARY_PATH", {});
}
CUPTI_TEST(State, TheCuptiOfTheProcessIsTaken) {
    ASSERT_NE(dlopen(kFakeCupti12.c_str(), RTLD_NOW), nullptr);
    Run run(Environment{{"FAKE_CUPTI_VERSION", "22"}});  // although another one is asked for
    EXPECT_EQ(run.started, State::Ok);
    EXPECT_EQ(run.collector.library().path, kFakeCupti12);
    EXPECT_TRUE(run.collector.library().alreadyInProcess);
    run.collector.stop();
}
CUPTI_TEST(State, NoDriver) {
    if (dlopen("libcuda.so.1", RTLD_NOW) != nullptr) {
        std::puts("skipped: this machine has a driver");
        return;
    }
    Recorded got;
    Collector collector({}, [&got] {
        return storage::Result<std::unique_ptr<Sink>>(std::make_unique<MemorySink>(got));
    });
    EXPECT_EQ(collector.start(), State::NoDriver);
    collector.stop();
    EXPECT_EQ(got.states.at(0).first, State::NoDriver);
    EXPECT_TRUE(got.closed);
    EXPECT_NE(collector.message().find("no NVIDIA driver on this machine"), std::string::npos);
}

// ---- after the start ----

CollectorOptions impatient() {
    CollectorOptions options;
    options.flush = std::chrono::milliseconds(20);
    options.silence = std::chrono::milliseconds(200);
    return options;
}
bool becomes(const Collector& collector, State state) {
    for (int i = 0; i < 500; ++i) {
        if (collector.state() == state) return true;
        usleep(10'000);
    }
    return false;
}
void launch(const Run& run, int n) {
    for (int i = 0; i < n; ++i) {
        std::uint64_t start = 0;
        const std::uint32_t correlation = run.fake.begin(abi::kDrvLaunchKernel, start);
        run.kernel("k", correlation, start, start + 10);
        run.fake.end(abi::kDrvLaunchKernel, correlation, start);
    }
}

CUPTI_TEST(State, ACuptiThatDoesNotKnowTheGpuIsFoundOutWithItsContext) {
    Run run(Environment{{"FAKE_CUPTI_UNSUPPORTED", "1"}}, [] {
        CollectorOptions o = impatient();
        o.lateAttach = false;
        return o;
    }());
    EXPECT_EQ(run.started, State::Ok);
    run.fake.contextCreated(0);
    EXPECT_TRUE(becomes(run.collector, State::DeviceUnsupported)) << run.collector.message();
    run.collector.stop();
    EXPECT_EQ(run.lastState(), State::DeviceUnsupported);
}
CUPTI_TEST(State, LaunchesWithoutAnyKernelRecordAreNoticed) {
    Run run(Environment{{"FAKE_CUPTI_WITHOUT", "10"}}, impatient());
    launch(run, 30);
    EXPECT_TRUE(becomes(run.collector, State::NoRecords)) << run.collector.message();
    EXPECT_NE(run.collector.message().find("30 launches"), std::string::npos);
    run.collector.stop();
}
CUPTI_TEST(State, AnotherProfilerThatTakesOverIsNoticed) {
    Run run(Environment{}, impatient());
    launch(run, 30);
    for (int i = 0; i < 500 && run.collector.counters().records < 60; ++i) usleep(10'000);
    run.fake.takeOver();
    bool noticed = false;
    for (int i = 0; i < 500 && !noticed; ++i) {
        launch(run, 1);
        usleep(10'000);
        noticed = run.collector.state() == State::TakenOver;
    }
    EXPECT_TRUE(noticed) << run.collector.message();
    run.collector.stop();
    EXPECT_EQ(run.lastState(), State::TakenOver);
}
CUPTI_TEST(State, AnIdleProgramIsNotSuspicious) {
    Run run(Environment{}, impatient());
    launch(run, 30);
    usleep(1'000'000);
    EXPECT_EQ(run.collector.state(), State::Ok);
    launch(run, 30);
    run.collector.stop();
    EXPECT_EQ(run.got.count(storage::GpuEventKind::Kernel), 60U);
    EXPECT_EQ(run.lastState(), State::Ok);
}
CUPTI_TEST(State, WhatCuptiReportsReachesTheTape) {
    Run run(Environment{}, impatient());
    run.fake.report(999, "internal buffer trouble");
    EXPECT_TRUE(becomes(run.collector, State::InternalError));
    EXPECT_NE(run.collector.message().find("CUPTI_ERROR_UNKNOWN: internal buffer trouble"),
              std::string::npos);
    run.collector.stop();
}

}  // namespace
}  // namespace tapescope::profiler::cupti
