// SPDX-License-Identifier: Apache-2.0
#include "storage/tape/writer.h"

#include "storage/tape/tape_file.h"
#include "storage/tape/tape_sink.h"
#include "storage/tape/write_batch.h"

#include <array>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <thread>
#include <unordered_map>
#include <utility>

namespace tapescope::storage {
namespace {

using Clock = std::chrono::steady_clock;
// An idle writer (a model that stands in the debugger) says this often that it lives.
constexpr auto kHeartbeat = std::chrono::seconds(2);

struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>{}(text);
    }
};
using IdByText = std::unordered_map<std::string, std::int64_t, TextHash, std::equal_to<>>;

std::string makeRunId() {
    std::random_device random;
    std::string id;
    for (int i = 0; i < 4; ++i) {
        std::array<char, 9> hex{};
        std::snprintf(hex.data(), hex.size(), "%08x", static_cast<unsigned>(random()));
        id += hex.data();
    }
    return id;
}

std::size_t sizeOf(const Graph& graph) {
    std::size_t bytes = sizeof graph;
    for (const GraphNode& node : graph.nodes)
        bytes += sizeof node + 64 + node.inputs.size() * (sizeof(GraphEdge) + 32);
    return bytes;
}

}  // namespace

struct TapeWriter::Impl {
    std::string path;
    double startWall = 0;
    WriterOptions options;
    TapeSink sink;

    // Lock order: internMutex, then mutex.
    std::shared_mutex internMutex;
    std::array<IdByText, 3> tagIds;  // by TagKind; guarded by internMutex
    IdByText nameIds;                // guarded by internMutex
    std::int64_t tagCount = 0;       // guarded by internMutex

    mutable std::mutex mutex;
    std::condition_variable work;      ///< for the thread: something to do
    std::condition_variable progress;  ///< for producers: committed, failed or closed
    // All guarded by mutex:
    WriteBatch pending;
    Clock::time_point pendingSince;
    std::size_t inFlightBytes = 0;
    std::uint64_t pendingNumber = 1;  ///< of the batch that collects now
    std::uint64_t committedNumber = 0;
    std::uint64_t wantedNumber = 0;  ///< somebody waits for this batch
    Status failure;
    bool accepting = true;
    bool sealing = false;
    bool ended = false;
    RunOutcome outcome = RunOutcome::Unknown;
    std::string outcomeMessage;

    std::mutex sealMutex;  ///< one seal() at a time, taken before mutex
    std::thread thread;

    explicit Impl(std::unique_ptr<Database> db) : sink(std::move(db)) {}

    bool backlogFull() const { return pending.bytes + inFlightBytes >= options.maxBacklogBytes; }

    /// Adds to the pending batch with mutex held.
    template <class Add>
    void addLocked(std::size_t bytes, Add&& add) {
        const bool first = pending.empty();
        add(pending);
        pending.bytes += bytes;
        if (first) {
            pendingSince = Clock::now();
            work.notify_one();
        } else if (pending.bytes >= options.maxBacklogBytes / 4) {
            work.notify_one();
        }
    }
    /// For what may not be lost and may be much: waits while the backlog is full.
    template <class Add>
    void add(std::size_t bytes, Add&& fn) {
        std::unique_lock lock(mutex);
        progress.wait(lock, [this] { return !accepting || !backlogFull(); });
        if (accepting) addLocked(bytes, std::forward<Add>(fn));
    }
    /// For small rows: never waits, never drops.
    template <class T>
    void addRow(T row, std::size_t extraBytes = 0) {
        const std::lock_guard lock(mutex);
        if (!accepting) return;
        addLocked(sizeof(T) + extraBytes,
                  [&](WriteBatch& b) { b.rows.emplace_back(std::move(row)); });
    }
    /// For events: above the backlog they are counted instead.
    template <class Event>
    void addEvents(std::vector<Event> batch, std::vector<std::vector<Event>> WriteBatch::*to,
                   std::int64_t WriteBatch::Dropped::*dropped) {
        if (batch.empty()) return;
        const std::lock_guard lock(mutex);
        if (!accepting) return;
        if (backlogFull()) {
            pending.dropped.*dropped += static_cast<std::int64_t>(batch.size());
            return;
        }
        const std::size_t bytes = batch.size() * sizeof(Event);
        addLocked(bytes, [&](WriteBatch& b) { (b.*to).push_back(std::move(batch)); });
    }

    std::int64_t intern(IdByText& ids, std::string_view text, auto&& assign) {
        {
            const std::shared_lock lock(internMutex);
            if (const auto found = ids.find(text); found != ids.end()) return found->second;
        }
        const std::unique_lock lock(internMutex);
        if (const auto found = ids.find(text); found != ids.end()) return found->second;
        // The row is enqueued before anybody can know the id, so no batch refers to a later one. It
        // does not wait for the backlog: producers of events must not block.
        const std::int64_t id = assign();
        ids.emplace(text, id);
        return id;
    }

    void run();
    Status commitPending(std::unique_lock<std::mutex>& lock, WriteBatch& spare);
    Status waitFor(std::unique_lock<std::mutex>& lock, std::uint64_t number);
};

Status TapeWriter::Impl::commitPending(std::unique_lock<std::mutex>& lock, WriteBatch& spare) {
    std::swap(pending, spare);
    inFlightBytes = spare.bytes;
    const std::uint64_t number = pendingNumber++;
    lock.unlock();
    Status done = sink.write(spare);
    spare.clear();
    lock.lock();
    inFlightBytes = 0;
    if (done.ok()) committedNumber = number;
    return done;
}

void TapeWriter::Impl::run() {
    WriteBatch spare;  // the two batches swap, so that their memory is reused
    // A record waits for half the promised time, so that the write itself fits in the rest.
    const auto delay = std::chrono::milliseconds(options.commitMs) / 2;
    auto nextHeartbeat = Clock::now() + kHeartbeat;
    std::unique_lock lock(mutex);
    Status status;
    while (status.ok()) {
        const bool something = !pending.empty();
        const bool urgent = sealing || wantedNumber >= pendingNumber ||
                            pending.bytes >= options.maxBacklogBytes / 4;
        const auto now = Clock::now();
        if (something && (urgent || now >= pendingSince + delay)) {
            status = commitPending(lock, spare);
            nextHeartbeat = Clock::now() + kHeartbeat;
            progress.notify_all();
        } else if (urgent && wantedNumber >= pendingNumber) {
            committedNumber = pendingNumber++;  // an empty batch is committed by nature
            progress.notify_all();
        } else if (sealing) {
            break;
        } else if (now >= nextHeartbeat) {
            lock.unlock();
            status = sink.heartbeat();
            lock.lock();
            nextHeartbeat = Clock::now() + kHeartbeat;
        } else {
            work.wait_until(
                lock, something ? std::min(nextHeartbeat, pendingSince + delay) : nextHeartbeat);
        }
    }
    const RunOutcome how = outcome;
    const std::string message = outcomeMessage;
    accepting = false;
    lock.unlock();
    if (status.ok()) status = sink.seal(how, message);
    if (!status.ok()) sink.giveUp();
    lock.lock();
    if (!status.ok()) failure = status.withContext("recording stopped");
    pending = {};
    ended = true;
    progress.notify_all();
}

Status TapeWriter::Impl::waitFor(std::unique_lock<std::mutex>& lock, std::uint64_t number) {
    wantedNumber = std::max(wantedNumber, number);
    work.notify_one();
    progress.wait(lock, [&] { return ended || committedNumber >= number; });
    if (committedNumber >= number) return {};
    return failure.ok()
               ? Status::error("\"" + path + "\" is sealed: nothing more can be recorded to it")
               : failure;
}

Result<std::unique_ptr<TapeWriter>> TapeWriter::create(const std::string& path, const RunInfo& info,
                                                       const WriterOptions& options) {
    RunInfo full = info;
    if (full.runId.empty()) full.runId = makeRunId();
    if (full.startWall == 0) {
        full.startWall =
            std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
                .count();
    }
    auto db = createTapeFile(path, full, options.overwrite);
    if (!db.ok()) return db.status();
    auto impl = std::make_unique<Impl>(std::move(db).value());
    impl->path = path;
    impl->startWall = full.startWall;
    impl->options = options;
    impl->thread = std::thread([state = impl.get()] { state->run(); });
    return std::unique_ptr<TapeWriter>(new TapeWriter(std::move(impl)));
}

TapeWriter::TapeWriter(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
TapeWriter::~TapeWriter() { (void)seal(RunOutcome::Unknown).ok(); }

TagId TapeWriter::tag(std::string_view name, TagKind kind) {
    Impl& m = *m_impl;
    return {m.intern(m.tagIds[static_cast<std::size_t>(kind)], name, [&] {
        const std::int64_t id = ++m.tagCount;
        const std::lock_guard lock(m.mutex);
        if (m.accepting) {
            m.addLocked(sizeof(TagRow) + name.size(), [&](WriteBatch& b) {
                b.tags.push_back({{id}, std::string(name), kind});
            });
        }
        return id;
    })};
}

NameId TapeWriter::name(std::string_view text) {
    if (text.empty()) return 0;
    Impl& m = *m_impl;
    return static_cast<NameId>(m.intern(m.nameIds, text, [&] {
        const auto id = static_cast<std::int64_t>(m.nameIds.size()) + 1;
        const std::lock_guard lock(m.mutex);
        if (m.accepting) {
            m.addLocked(64 + text.size(), [&](WriteBatch& b) {
                b.names.emplace_back(static_cast<NameId>(id), text);
            });
        }
        return id;
    }));
}

void TapeWriter::scalar(TagId tag, ScalarPoint point) {
    m_impl->add(sizeof tag + sizeof point,
                [&](WriteBatch& b) { b.scalars.emplace_back(tag, point); });
}
void TapeWriter::histogram(TagId tag, Histogram histogram) {
    const std::size_t bytes = sizeof histogram + 16 * histogram.edges.size();
    m_impl->add(bytes,
                [&](WriteBatch& b) { b.histograms.emplace_back(tag, std::move(histogram)); });
}
void TapeWriter::opEvents(std::vector<OpEvent> batch) {
    m_impl->addEvents(std::move(batch), &WriteBatch::opEvents, &WriteBatch::Dropped::opEvents);
}
void TapeWriter::memoryEvents(std::vector<MemoryEvent> batch) {
    m_impl->addEvents(std::move(batch), &WriteBatch::memoryEvents,
                      &WriteBatch::Dropped::memoryEvents);
}
void TapeWriter::gpuEvents(std::vector<GpuEvent> batch) {
    m_impl->addEvents(std::move(batch), &WriteBatch::gpuEvents, &WriteBatch::Dropped::gpuEvents);
}
void TapeWriter::counterSamples(std::vector<CounterSample> batch) {
    m_impl->addEvents(std::move(batch), &WriteBatch::counterSamples,
                      &WriteBatch::Dropped::counterSamples);
}
void TapeWriter::allocatorEvents(std::vector<AllocatorEvent> batch) {
    m_impl->addEvents(std::move(batch), &WriteBatch::allocatorEvents,
                      &WriteBatch::Dropped::allocatorEvents);
}
void TapeWriter::waitForRoom() {
    Impl& m = *m_impl;
    std::unique_lock lock(m.mutex);
    m.progress.wait(lock, [&m] {
        return !m.accepting ||
               m.pending.bytes + m.inFlightBytes <= m.options.maxBacklogBytes / 4 * 3;
    });
}
void TapeWriter::gpuProcess(GpuProcess row) { m_impl->addRow(std::move(row)); }
void TapeWriter::gpuDevice(GpuDevice row) { m_impl->addRow(std::move(row)); }
void TapeWriter::gpuContext(GpuContext row) { m_impl->addRow(row); }
void TapeWriter::gpuStream(GpuStream row) { m_impl->addRow(row); }
void TapeWriter::gpuObjectName(GpuObjectName row) { m_impl->addRow(std::move(row)); }
void TapeWriter::gpuStatus(GpuStatus row) { m_impl->addRow(std::move(row)); }
void TapeWriter::gpuCount(GpuCount row) { m_impl->addRow(std::move(row)); }
void TapeWriter::gpuSummary(std::vector<GpuSummary> rows) {
    const std::size_t bytes = rows.size() * sizeof(GpuSummary);
    m_impl->addRow(std::move(rows), bytes);
}
void TapeWriter::gpuCounter(GpuCounter row) { m_impl->addRow(std::move(row)); }
void TapeWriter::lane(LaneRow row) { m_impl->addRow(std::move(row)); }
void TapeWriter::module(ModuleRow row) { m_impl->addRow(std::move(row)); }
void TapeWriter::site(SiteRow row) { m_impl->addRow(std::move(row)); }
void TapeWriter::source(SourceRow row) {
    const std::size_t bytes = row.text.size();
    m_impl->addRow(std::move(row), bytes);
}
void TapeWriter::graph(Graph graph) {
    m_impl->add(sizeOf(graph), [&](WriteBatch& b) { b.rows.emplace_back(std::move(graph)); });
}
void TapeWriter::dropGraph(GraphId id) { m_impl->addRow(WriteBatch::DropGraph{id}); }
void TapeWriter::step(StepRow row) { m_impl->addRow(row); }
void TapeWriter::opSummary(std::vector<OpSummary> rows) {
    const std::size_t bytes = rows.size() * sizeof(OpSummary);
    m_impl->addRow(std::move(rows), bytes);
}
void TapeWriter::log(LogRow row) {
    m_impl->add(sizeof row + row.text.size(),
                [&](WriteBatch& b) { b.rows.emplace_back(std::move(row)); });
}
void TapeWriter::lost(std::string_view what, std::int64_t count, std::string_view reason) {
    if (count != 0) m_impl->addRow(LossCount{std::string(what), count, std::string(reason)});
}
void TapeWriter::environment(std::string_view key, std::string_view value) {
    m_impl->addRow(WriteBatch::Environment{std::string(key), std::string(value)}, value.size());
}

Status TapeWriter::flush() {
    std::unique_lock lock(m_impl->mutex);
    return m_impl->waitFor(lock, m_impl->pendingNumber);
}

Status TapeWriter::seal(RunOutcome outcome, std::string_view message) {
    const std::lock_guard one(m_impl->sealMutex);
    if (m_impl->thread.joinable()) {
        {
            const std::lock_guard lock(m_impl->mutex);
            m_impl->outcome = outcome;
            m_impl->outcomeMessage = message;
            m_impl->accepting = false;
            m_impl->sealing = true;
            m_impl->work.notify_one();
            m_impl->progress.notify_all();
        }
        m_impl->thread.join();
    }
    return status();
}

Status TapeWriter::status() const {
    const std::lock_guard lock(m_impl->mutex);
    return m_impl->failure;
}
const std::string& TapeWriter::path() const { return m_impl->path; }
double TapeWriter::startWall() const { return m_impl->startWall; }

}  // namespace tapescope::storage
