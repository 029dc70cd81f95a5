// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/gpu_sample.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace tapescope::viewers::test {

using storage::GpuEvent;
using storage::GpuEventKind;

GpuEvent gpuCall(storage::NameId name, std::int64_t start, std::int64_t duration,
                 std::uint32_t correlation, std::uint32_t thread, storage::GpuProcessId process) {
    GpuEvent e;
    e.kind = GpuEventKind::RuntimeApi;
    e.process = process;
    e.name = name;
    e.startNs = start;
    e.durationNs = duration;
    e.correlation = correlation;
    e.thread = thread;
    e.u[0] = 211;
    return e;
}

GpuEvent gpuKernel(storage::NameId name, std::int64_t start, std::int64_t duration,
                   std::uint32_t correlation, std::uint32_t stream, storage::GpuProcessId process) {
    GpuEvent e;
    e.kind = GpuEventKind::Kernel;
    e.process = process;
    e.name = name;
    e.startNs = start;
    e.durationNs = duration;
    e.correlation = correlation;
    e.context = 1;
    e.stream = stream;
    storage::KernelLaunch launch;
    launch.grid = {128, 4, 1};
    launch.block = {256, 1, 1};
    launch.registersPerThread = 40;
    launch.staticSharedBytes = 1024;
    launch.dynamicSharedBytes = 16384;
    storage::setKernelLaunch(e, launch);
    return e;
}

GpuEvent gpuCopy(storage::GpuCopyKind kind, std::uint64_t bytes, std::int64_t start,
                 std::int64_t duration, std::uint32_t correlation, std::uint32_t stream) {
    GpuEvent e;
    e.kind = GpuEventKind::Memcpy;
    e.process = 1;
    e.startNs = start;
    e.durationNs = duration;
    e.correlation = correlation;
    e.context = 1;
    e.stream = stream;
    e.u = {bytes, 0, 1};
    const bool in = kind == storage::GpuCopyKind::HostToDevice;
    e.x[0] = static_cast<std::uint32_t>(kind);
    e.x[1] = static_cast<std::uint32_t>(in ? storage::GpuMemoryKind::Pinned
                                           : storage::GpuMemoryKind::Device);
    e.x[2] = static_cast<std::uint32_t>(in ? storage::GpuMemoryKind::Device
                                           : storage::GpuMemoryKind::Pageable);
    if (in) e.flags = storage::kGpuAsync;
    return e;
}

GpuEvent nvtx(GpuEventKind kind, storage::NameId name, std::uint64_t id, std::int64_t at,
              std::uint32_t thread) {
    GpuEvent e;
    e.kind = kind;
    e.process = 1;
    e.name = kind == GpuEventKind::NvtxPop ? 0 : name;
    e.u[0] = id;
    e.startNs = at;
    e.thread = thread;
    return e;
}

GpuEvent nvtxData(std::uint64_t id, std::uint32_t argb, std::uint32_t category,
                  std::int64_t payload) {
    GpuEvent e;
    e.kind = GpuEventKind::NvtxData;
    e.process = 1;
    e.flags = storage::kGpuNoTime;
    e.u = {id, static_cast<std::uint64_t>(payload), payload != 0 ? 4U : 0U};  // CUPTI's int64
    e.x[0] = argb;
    e.x[1] = category;
    return e;
}

GpuEvent eventRecord(std::uint32_t event, std::int64_t at, std::uint32_t correlation,
                     std::uint32_t stream) {
    GpuEvent e;
    e.kind = GpuEventKind::CudaEventRecord;
    e.process = 1;
    if (at < 0) {
        e.flags = storage::kGpuNoTime;
    } else {
        e.startNs = at;
    }
    e.correlation = correlation;
    e.context = 1;
    e.stream = stream;
    e.x[1] = event;
    return e;
}

GpuEvent streamWait(std::uint32_t event, std::int64_t start, std::int64_t duration,
                    std::uint32_t correlation, std::uint32_t stream) {
    GpuEvent e;
    e.kind = GpuEventKind::Sync;
    e.process = 1;
    e.startNs = start;
    e.durationNs = duration;
    e.correlation = correlation;
    e.context = 1;
    e.stream = stream;
    e.x[0] = static_cast<std::uint32_t>(storage::GpuSyncKind::StreamWaitsEvent);
    e.x[1] = event;
    return e;
}

GpuEvent externalId(storage::ExternalKind kind, std::uint64_t id, std::uint32_t correlation) {
    GpuEvent e;
    e.kind = GpuEventKind::ExternalId;
    e.process = 1;
    e.flags = storage::kGpuNoTime;
    e.u[0] = id;
    e.x[0] = static_cast<std::uint32_t>(kind);
    e.correlation = correlation;
    return e;
}

GpuEvent deviceMemory(bool alloc, std::uint64_t address, std::uint64_t bytes, std::int64_t at) {
    GpuEvent e;
    e.kind = alloc ? GpuEventKind::MemAlloc : GpuEventKind::MemFree;
    e.process = 1;
    e.startNs = at;
    storage::GpuMemory memory;
    memory.address = address;
    memory.bytes = bytes;
    memory.memory = storage::GpuMemoryKind::Device;
    storage::setGpuMemory(e, memory);
    return e;
}

namespace {

constexpr const char* kElementwise =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_"
    "addIfEESt5arrayIPcLm3EEEEviT0_T1_";

std::string longName() {
    std::string name = "_ZN7cutlass6KernelI";
    for (int i = 0; i < 12; ++i) name += "N4gemm6kernel11DefaultGemmE";
    return name + "EEvT_";
}

struct Layer {
    const char* name;  ///< of the kernel
    std::int64_t us;   ///< on the device
    const char* op;    ///< the engine's
};
constexpr std::array kForward = {
    Layer{"sm90_xmma_fprop_implicit_gemm_bf16_nhwc", 310, "conv2d"},
    Layer{"bn_fw_tr_1C11_kernel_NCHW", 60, "batch_norm"},
    Layer{kElementwise, 35, "relu"},
    Layer{"sm90_xmma_gemm_bf16bf16_f32_tn_n_tilesize128x128", 420, "linear"},
    Layer{"flash_fwd_kernel", 260, "attention"},
    Layer{"softmax_warp_forward", 45, "softmax"}};
constexpr std::array kBackward = {
    Layer{"softmax_warp_backward", 55, "softmax_backward"},
    Layer{"flash_bwd_kernel", 480, "attention_backward"},
    Layer{"sm90_xmma_gemm_bf16bf16_f32_nt_n_tilesize128x128", 430, "linear_backward"},
    Layer{"sm90_xmma_wgrad_implicit_gemm_bf16_nhwc", 520, "conv2d_backward"},
    Layer{"reduce_kernel_sum", 40, "sum"}};

class Sample final {
public:
    Sample(storage::TapeWriter& writer, const GpuSampleOptions& options)
        : m_writer(writer), m_options(options) {
        m_launch = writer.name("cudaLaunchKernel");
        m_copyCall = writer.name("cudaMemcpyAsync");
        m_graphCall = writer.name("cudaGraphLaunch");
        m_syncCall = writer.name("cudaStreamSynchronize");
        m_recordCall = writer.name("cudaEventRecord");
        m_streamWaitCall = writer.name("cudaStreamWaitEvent");
    }

    void step(int number) {
        const std::int64_t begin = m_host;
        constexpr std::array<std::uint32_t, 3> kSteps{0xB07B5EA7, 0, 0xFFF2D98B};
        push("step " + std::to_string(number), kSteps[static_cast<std::size_t>(number) % 3]);
        push("data", 0x80E69F00, 3);
        copyIn(8'388'608);
        waitForCopy();
        pop();
        push("forward", 0xFF2E9E5B, 1, number);
        for (const Layer& layer : kForward) launch(layer, storage::Phase::Forward);
        if (m_options.longNames) {
            const std::string name = longName();
            launch({name.c_str(), 90, "fused"}, storage::Phase::Forward);
        }
        pop();
        push("backward", 0xFF8A1C3B, 2, number);
        for (const Layer& layer : kBackward) launch(layer, storage::Phase::Backward);
        pop();
        push("optimizer", 0xFFFFF4B8);
        graph();
        pop();
        recordEnd();
        copyOut(4);
        wait();
        pop();
        memoryOf(number, begin);
        counters(begin);
        m_host += 150'000;
    }
    void more(std::size_t kernels) {
        for (std::size_t i = 0; i < kernels; ++i) {
            const Layer& layer = kForward[i % kForward.size()];
            // Short kernels: the host stays a few launches ahead.
            launch({layer.name, 3 + static_cast<std::int64_t>(i % 9), layer.op},
                   storage::Phase::Forward);
            m_host = std::max(m_host, m_device - 40'000);
            if (events.size() > 60'000) flush();
        }
    }
    void flush() {
        // CUPTI hands kernels out before the calls that launched them, and ids after both.
        std::stable_partition(events.begin(), events.end(),
                              [](const GpuEvent& e) { return storage::runsOnDevice(e.kind); });
        m_writer.gpuEvents(std::exchange(events, {}));
        m_writer.opEvents(std::exchange(ops, {}));
    }
    std::int64_t now() const { return m_host; }

    std::vector<GpuEvent> events;
    std::vector<storage::OpEvent> ops;

private:
    static constexpr std::uint32_t kMain = 4242, kLoader = 4250, kCompute = 7, kCopies = 13;

    void push(const std::string& name, std::uint32_t argb = 0, std::uint32_t category = 0,
              std::int64_t payload = 0) {
        m_ranges.push_back(++m_rangeId);
        if (argb != 0) events.push_back(nvtxData(m_rangeId, argb, category, payload));
        events.push_back(
            nvtx(GpuEventKind::NvtxPush, m_writer.name(name), m_rangeId, m_host, kMain));
        m_host += 600;
    }
    void pop() {
        m_host += 600;
        events.push_back(nvtx(GpuEventKind::NvtxPop, 0, m_ranges.back(), m_host, kMain));
        m_ranges.pop_back();
    }
    void launch(const Layer& layer, storage::Phase phase) {
        const std::uint32_t id = ++m_correlation;
        const std::int64_t opStart = m_host;
        m_host += 2'500;
        events.push_back(gpuCall(m_launch, m_host, 5'200, id, kMain));
        m_host += 6'000;
        const std::int64_t start = std::max(m_device + 1'200, m_host + 2'000);
        const std::int64_t ns = layer.us * 1000;
        events.push_back(gpuKernel(m_writer.name(layer.name), start, ns, id, kCompute));
        m_device = start + ns;
        m_host += 1'500;
        if (!m_options.operators) return;
        storage::OpEvent op;
        op.startNs = opStart;
        op.durationNs = m_host - opStart;
        op.opId = ++m_opId;
        op.step = m_step;
        op.name = m_writer.name(layer.op);
        op.lane = 1;
        op.seq = static_cast<std::uint32_t>(m_opId);
        op.phase = phase;
        ops.push_back(op);
        events.push_back(externalId(storage::ExternalKind::Engine, m_opId, id));
    }
    void copyIn(std::uint64_t bytes) {
        const std::uint32_t id = ++m_correlation;
        events.push_back(gpuCall(m_copyCall, m_host, 4'000, id, kLoader));
        const std::int64_t start = m_host + 9'000;
        events.push_back(
            gpuCopy(storage::GpuCopyKind::HostToDevice, bytes, start, 335'544, id, kCopies));
        m_device = std::max(m_device, start + 335'544);
        m_host += 30'000;
    }
    /// The step's stream waits for the copy; its event says when the device came to it.
    void waitForCopy() {
        const std::uint32_t record = ++m_correlation, wait = ++m_correlation;
        events.push_back(gpuCall(m_recordCall, m_host, 1'500, record, kLoader));
        events.push_back(eventRecord(1, m_device + 400, record, kCopies));
        m_host += 2'000;
        events.push_back(gpuCall(m_streamWaitCall, m_host, 1'800, wait, kMain));
        events.push_back(streamWait(1, m_host + 200, 1'400, wait, kCompute));
        m_host += 2'500;
    }
    /// As CUPTI has it by default: a record without a time of the device.
    void recordEnd() {
        const std::uint32_t id = ++m_correlation;
        events.push_back(gpuCall(m_recordCall, m_host, 1'500, id, kMain));
        events.push_back(eventRecord(2, -1, id, kCompute));
        m_host += 2'000;
    }
    void copyOut(std::uint64_t bytes) {
        const std::uint32_t id = ++m_correlation;
        const std::int64_t start = m_device + 2'000;
        events.push_back(gpuCall(m_copyCall, m_host, start + 3'000 - m_host, id, kMain));
        events.push_back(
            gpuCopy(storage::GpuCopyKind::DeviceToHost, bytes, start, 1'800, id, kCompute));
        m_device = start + 1'800;
        m_host = start + 3'500;
    }
    void graph() {
        const std::uint32_t id = ++m_correlation;
        events.push_back(gpuCall(m_graphCall, m_host, 9'000, id, kMain));
        m_host += 12'000;
        for (std::uint64_t node = 1; node <= 5; ++node) {
            GpuEvent e = gpuKernel(m_writer.name("multi_tensor_apply_kernel_adam"), m_device + 700,
                                   62'000, id, kCompute);
            e.graph = 3;
            e.flags = storage::kGpuFromGraph;
            e.u[0] = node;
            events.push_back(e);
            m_device += 62'700;
        }
    }
    void wait() {
        const std::uint32_t id = ++m_correlation;
        events.push_back(gpuCall(m_syncCall, m_host, 14'000, id, kMain));
        GpuEvent e;
        e.kind = GpuEventKind::Sync;
        e.process = 1;
        e.startNs = m_host + 1'000;
        e.durationNs = 12'000;
        e.correlation = id;
        e.context = 1;
        e.stream = kCompute;
        e.x[0] = static_cast<std::uint32_t>(storage::GpuSyncKind::Stream);
        events.push_back(e);
        GpuEvent cost;
        cost.kind = GpuEventKind::Overhead;
        cost.process = 1;
        cost.startNs = m_host + 20'000;
        cost.durationNs = 6'000;
        cost.thread = kMain;
        cost.x[0] = 1U << 16U;
        events.push_back(cost);
        m_host += 30'000;
    }
    void memoryOf(int number, std::int64_t begin) {
        ++m_step;
        if (!m_options.memory) return;
        constexpr std::int64_t kSegment = 2LL << 30;
        std::vector<storage::AllocatorEvent> history;
        const auto add = [&](storage::AllocatorAction action, std::uint64_t address,
                             std::int64_t bytes, std::int64_t at) {
            storage::AllocatorEvent e;
            e.timeNs = at;
            e.address = address;
            e.sizeBytes = bytes;
            e.process = 1;
            e.action = action;
            history.push_back(e);
        };
        const auto segment = static_cast<std::uint64_t>(number + 1) << 36U;
        if (number < 2) {
            add(storage::AllocatorAction::SegmentAlloc, segment, kSegment, begin + 1000);
            events.push_back(
                deviceMemory(true, segment, static_cast<std::uint64_t>(kSegment), begin + 900));
            add(storage::AllocatorAction::Alloc, segment, 900 << 20, begin + 1500);  // parameters
        }
        const std::int64_t length = m_host - begin;
        for (int i = 0; i < 12; ++i)
            add(storage::AllocatorAction::Alloc, (1ULL << 44U) + static_cast<std::uint64_t>(i),
                96 << 20, begin + 20'000 + i * length / 26);
        for (int i = 11; i >= 0; --i)
            add(storage::AllocatorAction::FreeCompleted,
                (1ULL << 44U) + static_cast<std::uint64_t>(i), 96 << 20,
                begin + 20'000 + (24 - i) * length / 26);
        if (number == m_options.outOfMemoryAt) {
            storage::AllocatorEvent e;
            e.timeNs = begin + 20'000 + 12 * length / 26;
            e.sizeBytes = 3LL << 30;
            e.deviceFreeBytes = 1LL << 30;
            e.process = 1;
            e.site = m_writer.name("train.py:31 forward");
            e.action = storage::AllocatorAction::OutOfMemory;
            history.push_back(e);
        }
        m_writer.allocatorEvents(std::move(history));
    }
    void counters(std::int64_t begin) {
        if (!m_options.counters) return;
        std::vector<storage::CounterSample> samples;
        const std::int64_t length = m_host - begin;
        for (int i = 0; i < 6; ++i) {
            const std::int64_t at = begin + i * length / 6;
            const auto wave = static_cast<double>((i * 37 + m_step * 11) % 20);
            samples.push_back({at, 70 + wave, 1});
            samples.push_back({at, 310 + 9 * wave, 2});
            samples.push_back({at, (5.6 + 0.02 * wave) * 1e9, 3});
            samples.push_back({at, 1980 - 15 * wave, 4});
        }
        m_writer.counterSamples(std::move(samples));
    }

    storage::TapeWriter& m_writer;
    GpuSampleOptions m_options;
    storage::NameId m_launch = 0, m_copyCall = 0, m_graphCall = 0, m_syncCall = 0, m_recordCall = 0,
                    m_streamWaitCall = 0;
    std::int64_t m_host = 50'000, m_device = 0;
    std::uint32_t m_correlation = 100;
    std::uint64_t m_rangeId = 0, m_opId = 0;
    std::int64_t m_step = 0;
    std::vector<std::uint64_t> m_ranges;
};

std::unique_ptr<storage::TapeWriter> create(const std::string& path, const char* name) {
    storage::RunInfo info;
    info.name = name;
    auto made = storage::TapeWriter::create(path, info);
    if (!made.ok()) std::abort();
    return std::move(made).value();
}

}  // namespace

std::unique_ptr<storage::TapeWriter> writeGpuSample(const std::string& path,
                                                    const GpuSampleOptions& options) {
    auto writer = create(path, "resnet-train");
    constexpr const char* kUuid = "GPU-6f1c0b52-93c1-11ee-8d4a-0242ac120002";
    writer->gpuProcess({1, 4242, 4000, "box", "boot", "/usr/bin/python3 train.py --epochs 3", 0, 0,
                        1, 1, 2, 250, "same clock"});
    writer->gpuDevice({1, 0, "NVIDIA H200", kUuid, 141ULL << 30U, 132, 9, 0});
    writer->gpuContext({1, 1, 0, 7});
    writer->gpuStream({1, 1, 7, 0, 3});
    writer->gpuStream({1, 1, 13, -5, 2});
    writer->gpuObjectName({1, storage::GpuObject::Stream, 13, 1, "copies"});
    writer->gpuObjectName({1, storage::GpuObject::Thread, 4250, 0, "data loader"});
    writer->gpuStatus({1, "cupti", "ok", "GPU tracing is on (CUPTI 12.8).", "", 0});
    if (options.counters) {
        writer->gpuCounter({1, "utilisation", "%", kUuid, "NVIDIA H200", "box"});
        writer->gpuCounter({2, "power", "W", kUuid, "NVIDIA H200", "box"});
        writer->gpuCounter({3, "memory used", "B", kUuid, "NVIDIA H200", "box"});
        writer->gpuCounter({4, "clock", "MHz", kUuid, "NVIDIA H200", "box"});
    }
    if (options.operators) writer->lane({1, storage::LaneKind::Thread, "main"});
    Sample sample(*writer, options);
    for (int i = 0; i < options.steps; ++i) sample.step(i);
    sample.more(options.kernels);
    if (options.losses) {
        GpuEvent timeless = gpuKernel(writer->name("lost_kernel"), 0, 0, 9'000);
        timeless.flags = storage::kGpuNoTime;
        sample.events.push_back(timeless);
        sample.events.push_back(
            gpuKernel(writer->name("orphan_kernel"), sample.now() - 100'000, 20'000, 9'001, 13));
        writer->gpuCount({1, "dropped records", 42});
        writer->gpuCount({1, "declined buffers", 3});
        writer->gpuCount({1, "clock steps", 0});
    }
    sample.flush();
    writer->gpuCount({1, storage::kGpuCountRecords,
                      static_cast<std::int64_t>(options.kernels * 2) + options.steps * 60});
    if (options.seal && !writer->seal(storage::RunOutcome::Finished).ok()) std::abort();
    return writer;
}

std::unique_ptr<storage::TapeWriter> writeNoDriverSample(const std::string& path) {
    auto writer = create(path, "cpu-train");
    writer->gpuProcess({1, 77, 5, "box", "boot", "python3 train.py", -1, -1, -1, 1, 2, 0, ""});
    writer->gpuStatus({1, "cupti", "no-driver",
                       "No NVIDIA driver on this machine; everything else works.",
                       "libcuda.so.1 not found", 0});
    if (!writer->seal(storage::RunOutcome::Finished).ok()) std::abort();
    return writer;
}

}  // namespace tapescope::viewers::test
