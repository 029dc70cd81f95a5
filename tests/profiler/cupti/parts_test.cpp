// SPDX-License-Identifier: Apache-2.0
// The collector's parts alone: clock, buffers, names, options.
#include "profiler/cupti/buffer_pool.h"
#include "profiler/cupti/clock_map.h"
#include "profiler/cupti/inject/options.h"
#include "profiler/cupti/names.h"
#include "profiler/cupti/tape_output.h"
#include "tests/profiler/cupti/cupti_support.h"
#include "tests/profiler/cupti/process_support.h"

#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>

namespace tapescope::profiler::cupti {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(ClockMap, FollowsSlewingAndFindsSteps) {
    ClockMap c;
    c.add({100 * kSecond, 5000 * kSecond, 10});
    c.add({102 * kSecond, 5002 * kSecond + 500'000, 10});  // 250 ppm
    EXPECT_EQ(c.steps(), 0);
    EXPECT_NEAR(static_cast<double>(c.toMonotonic(5001 * kSecond).monotonic),
                static_cast<double>(101 * kSecond - 250'000), 1000);
    c.add({104 * kSecond, 8004 * kSecond, 10});  // forward by 3000 s
    EXPECT_EQ(c.steps(), 1);
    const auto before = c.toMonotonic(8003 * kSecond);
    EXPECT_TRUE(before.stepped);
    EXPECT_NEAR(static_cast<double>(before.monotonic), 103.0 * kSecond, 1e7);
    const auto after = c.toMonotonic(5002 * kSecond + 900'000'000);
    EXPECT_TRUE(after.stepped);
    EXPECT_NEAR(static_cast<double>(after.monotonic), 102.0 * kSecond + 899'500'000, 1e7);
    c.add({106 * kSecond, 8006 * kSecond, 10});
    const auto steady = c.toMonotonic(8005 * kSecond);
    EXPECT_FALSE(steady.stepped);
    EXPECT_EQ(steady.monotonic, 105 * kSecond);
    c.add({108 * kSecond, 7000 * kSecond, 10});  // back
    c.add({110 * kSecond, 7002 * kSecond, 10});
    EXPECT_EQ(c.steps(), 2);
    const auto back = c.toMonotonic(7001 * kSecond);
    EXPECT_FALSE(back.stepped);
    EXPECT_EQ(back.monotonic, 109 * kSecond);
}
TEST(ClockMap, ReadingsFarApartAreNoStep) {
    ClockMap c;
    c.add({100 * kSecond, 5000 * kSecond, 20'000'000});  // a busy machine: 20 ms between them
    c.add({101 * kSecond, 5001 * kSecond + 9'000'000, 100});
    EXPECT_EQ(c.steps(), 0);
    EXPECT_EQ(c.errorNs(), 10'000'000);
    c.add({102 * kSecond, 5002 * kSecond + 19'000'000, 100});
    EXPECT_EQ(c.steps(), 1);
}
TEST(ClockMap, KnowsHowFarItMayBeOff) {
    ClockMap c;
    EXPECT_TRUE(c.toMonotonic(5).stepped);  // nothing is known yet
    c.add({kSecond, 2 * kSecond, 300});
    c.add({2 * kSecond, 3 * kSecond, 100});
    EXPECT_EQ(c.errorNs(), 150);
}
TEST(ClockMap, StaysSmallAndSurvivesNonsense) {
    ClockMap c;
    for (std::int64_t i = 0; i < 10'000; ++i)
        c.add({i * 2 * kSecond, 5000 * kSecond + i * 2 * kSecond, 10});
    EXPECT_EQ(c.toMonotonic(5000 * kSecond + 19'000 * kSecond + 7).monotonic, 19'000 * kSecond + 7);
    EXPECT_GT(c.firstMonotonic(), 0);  // the oldest are gone
    for (const std::int64_t t : {INT64_MIN, INT64_MAX, std::int64_t{0}, std::int64_t{-1}})
        (void)c.toMonotonic(t);
    c.add({30'000 * kSecond, 9 * kSecond, 10});
    for (const std::int64_t t : {INT64_MIN, INT64_MAX}) (void)c.toMonotonic(t);
}
TEST(ClockMap, AgreesWithTheMachine) {
    ClockMap c;
    for (int i = 0; i < 5; ++i) c.sample();
    const ClockMap::Sample now = ClockMap::measure();
    c.sample();
    if (c.steps() > 0) GTEST_SKIP() << "the machine's clock is being set";
    EXPECT_NEAR(static_cast<double>(c.toMonotonic(now.realtime).monotonic - now.monotonic), 0,
                static_cast<double>(c.errorNs() + now.widthNs) + 1e6);
}

TEST(BufferPool, LendsToItsLimitAndThenDeclines) {
    BufferPool pool(4096, 2, true);
    std::size_t size = 0;
    std::uint8_t* a = pool.request(size);
    std::uint8_t* b = pool.request(size);
    EXPECT_NE(a, nullptr);
    EXPECT_NE(b, nullptr);
    EXPECT_EQ(size, 4096U);
    EXPECT_EQ(pool.request(size), nullptr);
    EXPECT_EQ(size, 0U);
    EXPECT_EQ(pool.stats().declined, 1U);
    pool.complete(a, 100);
    auto full = pool.take(std::chrono::milliseconds(0));
    ASSERT_EQ(full.size(), 1U);
    EXPECT_EQ(full[0].validBytes, 100U);
    EXPECT_FALSE(full[0].discard);
    pool.giveBack(full[0]);
    EXPECT_EQ(pool.request(size), a);
    pool.complete(a, 1'000'000);  // nobody can have filled more than it holds
    pool.complete(b, 0);
    full = pool.take(std::chrono::milliseconds(0));
    ASSERT_EQ(full.size(), 2U);
    EXPECT_EQ(full[0].validBytes, 4096U);
    EXPECT_EQ(pool.stats().out, 0U);
    for (const auto& f : full) pool.giveBack(f);
}
TEST(BufferPool, LendsBuffersToThrowAwayWhereNoneMayBeRefused) {
    BufferPool pool(4096, 1, false);
    std::size_t size = 0;
    std::uint8_t* a = pool.request(size);
    std::uint8_t* over = pool.request(size);
    ASSERT_NE(over, nullptr);
    EXPECT_EQ(size, 4096U);
    pool.complete(over, 64);
    pool.complete(a, 64);
    auto full = pool.take(std::chrono::milliseconds(0));
    ASSERT_EQ(full.size(), 2U);
    EXPECT_TRUE(full[0].discard);
    EXPECT_FALSE(full[1].discard);
    for (const auto& f : full) pool.giveBack(f);
}
TEST(BufferPool, AClosedOneGoesOnLending) {
    BufferPool pool(4096, 1, true);
    pool.close();
    std::size_t size = 0;
    std::uint8_t* a = pool.request(size);
    ASSERT_NE(a, nullptr);
    pool.complete(a, 64);
    EXPECT_TRUE(pool.take(std::chrono::milliseconds(0)).empty());
    EXPECT_EQ(pool.request(size), a);
    pool.complete(a, 64);
}

TEST(Names, ReadsATextWhereverItEnds) {
    std::string out;
    EXPECT_TRUE(readText("hello", 100, out));
    EXPECT_EQ(out, "hello");
    // To the last byte of a page, with nothing mapped after it.
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    auto* two = static_cast<char*>(
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_EQ(munmap(two + page, page), 0);
    std::memcpy(two + page - 4, "end", 4);
    EXPECT_TRUE(readText(two + page - 4, 100, out));
    EXPECT_EQ(out, "end");
    two[page - 1] = 'x';
    EXPECT_FALSE(readText(two + page - 4, 100, out));
    EXPECT_FALSE(readText(reinterpret_cast<const char*>(16), 100, out));
    EXPECT_TRUE(readText(std::string(10'000, 'y').c_str(), 5000, out));
    EXPECT_EQ(out, std::string(5000, 'y'));
    munmap(two, page);
}
TEST(Names, ACarefulCacheSurvivesNonsense) {
    Recorded got;
    MemorySink sink(got);
    NameCache names(sink, true);
    EXPECT_EQ(names(nullptr), 0U);
    // Any number may lie in a sanitizer's shadow; this page surely is not mapped.
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* gone = mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_EQ(munmap(gone, page), 0);
    EXPECT_EQ(names(static_cast<const char*>(gone)), 0U);
    const auto id = names("gemm");
    EXPECT_EQ(got.names.at(id), "gemm");
    EXPECT_EQ(names("gemm"), id);
}

TEST(InjectionOptions, ReadsKindsAndPassesOverNonsense) {
    const RecordKinds k = recordKinds("-runtime,+driver,+graph-level,+nonsense,,-,x,-sync");
    EXPECT_FALSE(k.runtimeApi);
    EXPECT_TRUE(k.driverApi);
    EXPECT_TRUE(k.graphLevel);
    EXPECT_FALSE(k.sync);
    EXPECT_TRUE(k.memory);
    EXPECT_TRUE(recordKinds(nullptr).runtimeApi);
}
CUPTI_TEST(InjectionOptions, ReadsTheEnvironment) {
    unsetenv("TAPESCOPE_GPU_DIR");
    EXPECT_FALSE(injectionOptions().has_value());
    setenv("TAPESCOPE_GPU_DIR", "/tapes", 1);
    setenv("TAPESCOPE_GPU_FLUSH_MS", "100", 1);
    setenv("TAPESCOPE_GPU_STOP_MS", "ten", 1);
    setenv("TAPESCOPE_GPU_BUFFER_BYTES", "12", 1);
    setenv("TAPESCOPE_GPU_MAX_BUFFERS", "-3", 1);
    setenv("TAPESCOPE_GPU_MAX_BYTES", "99999999999999999999", 1);
    setenv("TAPESCOPE_CUPTI_PATH", "/lib/libcupti.so.12", 1);
    const auto o = injectionOptions();
    ASSERT_TRUE(o.has_value());
    EXPECT_EQ(o->shard.folder, "/tapes");
    EXPECT_EQ(o->collector.flush.count(), 100);
    EXPECT_EQ(o->collector.stopTimeout.count(), 10'000);
    EXPECT_EQ(o->collector.bufferBytes, 1U << 20);
    EXPECT_EQ(o->collector.maxBuffers, 64U);
    EXPECT_EQ(o->shard.maxBytes, 16LL << 30);
    EXPECT_EQ(o->collector.cuptiPath, "/lib/libcupti.so.12");
}

TEST(ShardName, NamesHostProcessAndStart) {
    const Folder folder;
    const std::string name = shardName(folder.path());
    std::array<char, HOST_NAME_MAX + 1> host{};
    gethostname(host.data(), host.size() - 1);
    EXPECT_EQ(name.rfind(std::string(host.data()) + "-" + std::to_string(getpid()) + "-", 0), 0U);
    EXPECT_EQ(name.substr(name.size() - 5), ".tape");
    EXPECT_EQ(name, shardName(folder.path()));
    // The same process after an exec(): what it was before has written a tape.
    std::ofstream(folder.path() + "/" + name);
    const std::string stem = name.substr(0, name.size() - 5);
    EXPECT_EQ(shardName(folder.path()), stem + ".2.tape");
    leaveMark(folder.path(), "a.tape");
    EXPECT_GT(std::filesystem::file_size(folder.path() + "/a.tape.started"), 0U);
    leaveMark("/none", "a.tape");  // harmless
}

}  // namespace
}  // namespace tapescope::profiler::cupti
