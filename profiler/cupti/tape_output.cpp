// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/tape_output.h"

#include "profiler/cupti/clock_map.h"
#include "profiler/cupti/inject/environment.h"
#include "storage/tape/process_identity.h"

#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

namespace tapescope::profiler::cupti {

using storage::GpuProcess;
using storage::Result;
using storage::TapeWriter;

namespace {

constexpr storage::GpuProcessId kThisProcess = 1;
// The file's size is asked for after so many bytes of events, not at each batch.
constexpr std::size_t kSizeCheckBytes = 4U << 20;

/// Arguments of this process, joined by spaces.
std::string commandLine() {
    constexpr std::size_t kLongest = 8192;
    std::ifstream in("/proc/self/cmdline", std::ios::binary);
    std::string text(kLongest, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    while (!text.empty() && text.back() == '\0') text.pop_back();
    for (char& c : text) {
        if (c == '\0') c = ' ';
    }
    return text;
}

/// The first of the variables that is a number, or -1.
template <std::size_t N>
std::int32_t fromEnvironment(const std::array<const char*, N>& names) {
    for (const char* name : names) {
        const char* text = std::getenv(name);
        if (text == nullptr || *text == 0) continue;
        char* end = nullptr;
        const long value = std::strtol(text, &end, 10);
        if (*end == 0 && value >= 0 && value <= INT32_MAX) return static_cast<std::int32_t>(value);
    }
    return -1;
}

GpuProcess describeProcess(std::int64_t monotonicZeroNs, std::int64_t realtimeZeroNs) {
    const auto identity = storage::ProcessIdentity::self();
    GpuProcess p;
    p.id = kThisProcess;
    p.pid = identity.pid;
    p.parentPid = getppid();
    p.host = identity.host;
    p.bootId = identity.bootId;
    p.command = commandLine();
    p.rank =
        fromEnvironment(std::array{"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"});
    p.localRank =
        fromEnvironment(std::array{"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"});
    p.worldSize = fromEnvironment(std::array{"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"});
    p.monotonicZeroNs = monotonicZeroNs;
    p.realtimeZeroNs = realtimeZeroNs;
    p.clock = "same clock";
    return p;
}

class TapeOutput final : public Sink {
public:
    /// owned: seals it at the end.
    TapeOutput(TapeWriter& writer, std::unique_ptr<TapeWriter> owned, GpuProcess process,
               std::int64_t maxBytes)
        : m_writer(writer),
          m_owned(std::move(owned)),
          m_process(std::move(process)),
          m_maxBytes(maxBytes) {
        m_writer.gpuProcess(m_process);
    }

    storage::GpuProcessId process() const override { return m_process.id; }
    std::int64_t monotonicZeroNs() const override { return m_process.monotonicZeroNs; }
    storage::NameId name(std::string_view text) override { return m_writer.name(text); }
    Stored events(std::vector<storage::GpuEvent> batch) override {
        if (!m_writer.status().ok()) return Stored::NotWritten;
        m_sinceCheck += batch.size() * sizeof(storage::GpuEvent);
        if (!m_full && m_sinceCheck >= kSizeCheckBytes) {
            m_sinceCheck = 0;
            m_full = sizeOnDisk() >= m_maxBytes;
        }
        if (m_full) return Stored::AboveCap;
        // Our thread may wait for the disk: CUPTI's buffers fill meanwhile, and it says what it
        // drops.
        m_writer.waitForRoom();
        m_writer.gpuEvents(std::move(batch));
        return Stored::Yes;
    }
    void device(storage::GpuDevice row) override { m_writer.gpuDevice(std::move(row)); }
    void context(storage::GpuContext row) override { m_writer.gpuContext(row); }
    void stream(storage::GpuStream row) override { m_writer.gpuStream(row); }
    void objectName(storage::GpuObjectName row) override { m_writer.gpuObjectName(std::move(row)); }
    void status(State state, const std::string& detail) override {
        storage::GpuStatus row;
        row.process = m_process.id;
        row.source = "cupti";
        row.code = stateCode(state);
        row.message = stateMessage(state, detail);
        row.detail = detail;
        row.timeNs = nowNs(CLOCK_MONOTONIC) - m_process.monotonicZeroNs;
        m_status = row;
        m_writer.gpuStatus(std::move(row));
    }
    void fact(const std::string& key, const std::string& value) override {
        if (!value.empty()) m_writer.environment(key, value);
    }
    void clockError(std::int64_t errorNs) override {
        if (errorNs == m_process.clockErrorNs) return;
        m_process.clockErrorNs = errorNs;
        m_writer.gpuProcess(m_process);
    }
    void counters(const Counters& c) override {
        auto now = countersOf(c, m_process.id);
        for (std::size_t i = 0; i < now.size(); ++i) {
            if (i >= m_counts.size() || !(now[i] == m_counts[i])) m_writer.gpuCount(now[i]);
        }
        m_counts = std::move(now);
    }
    void summary(std::vector<storage::GpuSummary> rows) override {
        if (!rows.empty()) m_writer.gpuSummary(std::move(rows));
    }
    std::string problem() const override { return m_writer.status().message(); }
    void close() override {
        if (!m_owned) return;
        // Its time then says how long the process was there.
        if (!m_status.code.empty()) {
            m_status.timeNs = nowNs(CLOCK_MONOTONIC) - m_process.monotonicZeroNs;
            m_writer.gpuStatus(m_status);
        }
        (void)m_owned->seal(storage::RunOutcome::Finished).ok();  // problem() says what went wrong
    }

private:
    std::int64_t sizeOnDisk() const {
        std::int64_t bytes = 0;
        for (const char* suffix : {"", "-wal"}) {
            struct stat info {};
            if (stat((m_writer.path() + suffix).c_str(), &info) == 0) bytes += info.st_size;
        }
        return bytes;
    }

    TapeWriter& m_writer;
    std::unique_ptr<TapeWriter> m_owned;
    GpuProcess m_process;
    std::int64_t m_maxBytes;
    std::vector<storage::GpuCount> m_counts;
    storage::GpuStatus m_status;
    std::size_t m_sinceCheck = 0;
    bool m_full = false;
};

}  // namespace

std::string shardName(const std::string& folder) {
    const auto identity = storage::ProcessIdentity::self();
    std::string host = identity.host.substr(0, 100);
    for (char& c : host) {
        if (c == '/' || static_cast<unsigned char>(c) < 33) c = '_';
    }
    const std::string stem =
        host + "-" + std::to_string(identity.pid) + "-" + std::to_string(identity.startTicks);
    constexpr int kMostExecs = 1000;
    std::string name = stem + ".tape";
    for (int n = 2; n < kMostExecs && access((folder + "/" + name).c_str(), F_OK) == 0; ++n)
        name = stem + "." + std::to_string(n) + ".tape";
    return name;
}

void leaveMark(const std::string& folder, const std::string& shard) {
    const std::string path = folder + "/" + shard + environment::kStartedSuffix;
    const int mark = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (mark < 0) return;
    const int arguments = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (arguments >= 0) {
        std::array<char, 1024> text{};
        const ssize_t n = read(arguments, text.data(), text.size());
        if (n > 0) (void)!write(mark, text.data(), static_cast<std::size_t>(n));
        close(arguments);
    }
    close(mark);
}

SinkFactory shardSink(ShardOptions options) {
    if (options.name.empty()) options.name = shardName(options.folder);
    // Now, not when the collector's thread gets to it: records may be older than that.
    const ClockMap::Sample zero = ClockMap::measure();
    return [options, zero]() -> Result<std::unique_ptr<Sink>> {
        GpuProcess process = describeProcess(zero.monotonic, zero.realtime);
        storage::RunInfo info;
        info.command = process.command;
        info.name = process.command.substr(0, process.command.find(' '));
        info.startWall = static_cast<double>(zero.realtime) * 1e-9;
        info.environment = {{"host", process.host}, {"recorder", "libtapescope-inject"}};
        auto writer = TapeWriter::create(options.folder + "/" + options.name, info);
        if (!writer.ok()) return writer.status();
        auto owned = std::move(writer).value();
        TapeWriter& used = *owned;
        // From the start: who has this row used CUDA, also if nothing more comes of it.
        used.gpuCount({kThisProcess, storage::kGpuCountRecords, 0});
        return std::unique_ptr<Sink>(
            new TapeOutput(used, std::move(owned), std::move(process), options.maxBytes));
    };
}

SinkFactory tapeSink(TapeWriter& writer, std::int64_t monotonicZeroNs) {
    return [&writer, monotonicZeroNs]() -> Result<std::unique_ptr<Sink>> {
        const ClockMap::Sample now = ClockMap::measure();
        GpuProcess process = describeProcess(monotonicZeroNs, monotonicZeroNs + now.offset());
        return std::unique_ptr<Sink>(
            new TapeOutput(writer, nullptr, std::move(process), INT64_MAX));
    };
}

}  // namespace tapescope::profiler::cupti
