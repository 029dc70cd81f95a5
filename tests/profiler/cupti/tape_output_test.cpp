// SPDX-License-Identifier: Apache-2.0
// The collector beside a recorder: both write to one tape, on one time axis.
#include "profiler/cupti/tape_output.h"

#include "profiler/cupti/op_scope.h"
#include "tests/profiler/cupti/process_support.h"

namespace tapescope::profiler::cupti {
namespace {

CUPTI_TEST(TapeOutput, JoinsTheTapeOfARecorder) {
    Run::prepare({}, {});
    const Folder folder;
    const std::string path = folder.path() + "/run.tape";
    auto writer = storage::TapeWriter::create(path, {});
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    storage::TapeWriter& tape = **writer;
    const std::int64_t zero = nowNs(CLOCK_MONOTONIC);

    CollectorOptions options;
    options.cuptiPath = kFakeCupti13;
    Collector collector(options, tapeSink(tape, zero));
    ASSERT_EQ(collector.start(), State::Ok) << collector.message();
    const fake::Cupti cupti(collector.library().handle);
    storage::OpEvent op;
    op.opId = 4711;
    op.name = tape.name("matmul");
    op.startNs = nowNs(CLOCK_MONOTONIC) - zero;
    {
        const OpScope scope(&collector, op.opId);
        std::uint64_t start = 0;
        const std::uint32_t correlation = cupti.begin(abi::kDrvLaunchKernel, start);
        cupti.emit(fake::kernelRecord("gemm", correlation, start + 100, start + 600));
        cupti.end(abi::kDrvLaunchKernel, correlation, start);
    }
    op.durationNs = nowNs(CLOCK_MONOTONIC) - zero - op.startNs;
    tape.opEvents({op});
    collector.stop();
    // The tape is still the recorder's.
    tape.scalar(tape.tag("loss", storage::TagKind::Scalar), {0, 1, 0.5});
    ASSERT_TRUE(tape.seal(storage::RunOutcome::Finished).ok());

    const Tape read(path);
    EXPECT_EQ(read.state, storage::TapeState::Sealed);
    EXPECT_EQ(read.code(), "ok");
    ASSERT_EQ(read.processes.size(), 1U);
    EXPECT_EQ(read.processes[0].pid, getpid());
    EXPECT_EQ(read.processes[0].monotonicZeroNs, zero);
    ASSERT_EQ(read.kernels(), 1U);
    std::uint32_t correlation = 0;
    for (const auto& e : read.events) {
        if (e.kind != storage::GpuEventKind::ExternalId) continue;
        EXPECT_EQ(storage::externalKind(e), storage::ExternalKind::Engine);
        EXPECT_EQ(storage::externalId(e), op.opId);
        correlation = e.correlation;
    }
    EXPECT_NE(correlation, 0U);
    for (const auto& e : read.events) {
        if (e.kind != storage::GpuEventKind::Kernel) continue;
        EXPECT_EQ(e.correlation, correlation);
        EXPECT_EQ(read.names.at(e.name), "gemm");
        // On the operator's axis; the two clocks are read a moment apart.
        EXPECT_GE(e.startNs, op.startNs - 1'000'000);
        EXPECT_LT(e.startNs, op.startNs + op.durationNs + 1'000'000);
    }
}

CUPTI_TEST(TapeOutput, AShardIsATape) {
    Run::prepare({}, {});
    const Folder folder;
    CollectorOptions options;
    options.cuptiPath = kFakeCupti13;
    Collector collector(options, shardSink({folder.path()}));
    ASSERT_EQ(collector.start(), State::Ok);
    collector.stop();
    const Tape tape = only(folder);
    EXPECT_EQ(tape.state, storage::TapeState::Sealed);
    EXPECT_EQ(folder.tapes().at(0), folder.path() + "/" + shardName("/none"));
    EXPECT_NEAR(tape.info.startWall, static_cast<double>(nowNs(CLOCK_REALTIME)) * 1e-9, 60);
}

}  // namespace
}  // namespace tapescope::profiler::cupti
