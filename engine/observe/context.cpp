// SPDX-License-Identifier: Apache-2.0
#include "engine/observe/context.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <mutex>
#include <tuple>

namespace tapescope::engine {
namespace {

std::uint32_t nextThreadNumber() {
    static std::atomic<std::uint32_t> next{0};
    return next.fetch_add(1, std::memory_order_relaxed);
}

ThreadState freshState(Context* context, std::uint32_t thread) {
    ThreadState state;
    state.context = context;
    state.thread = thread;
    return state;
}

}  // namespace

std::string_view phaseName(Phase phase) {
    switch (phase) {
        case Phase::Other:
            return "other";
        case Phase::Data:
            return "data";
        case Phase::Forward:
            return "forward";
        case Phase::Backward:
            return "backward";
        case Phase::Optimizer:
            return "optimizer";
        case Phase::Evaluate:
            return "evaluate";
    }
    return "other";
}

std::int64_t nowNs() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

struct Context::FrameTable {
    using Key = std::tuple<const ModuleFrame*, std::string, std::string_view, std::uint32_t>;
    std::mutex mutex;
    std::map<Key, std::unique_ptr<ModuleFrame>> frames;  // guarded by mutex
};

Context::Context(CachingAllocator& allocator)
    : m_allocator(allocator), m_frames(std::make_unique<FrameTable>()) {}

Context::~Context() = default;

void Context::addObserver(Observer& observer) {
    m_observers.push_back(&observer);
    m_watched = true;
}

void Context::removeObserver(Observer& observer) {
    std::erase(m_observers, &observer);
    m_watched = !m_observers.empty();
}

void Context::beginStep(std::int64_t step) {
    m_step = step;
    for (Observer* o : m_observers) o->onStepBegin(step);
}

void Context::endStep() {
    for (Observer* o : m_observers) o->onStepEnd(m_step);
}

const ModuleFrame* Context::internFrame(const ModuleFrame* parent, const std::string& path,
                                        const std::string& typeName, Site site) {
    const std::lock_guard lock(m_frames->mutex);
    auto& slot = m_frames->frames[{parent, path, site.file, site.line}];
    if (!slot) {
        slot = std::make_unique<ModuleFrame>(
            ModuleFrame{parent, path, typeName, site, parent ? parent->depth + 1 : 0});
    }
    return slot.get();
}

void Context::notifyMemory(MemoryEvent::Kind kind, MemoryRole role, const void* address,
                           std::size_t sizeBytes) {
    const AllocatorStats stats = m_allocator.stats();
    MemoryEvent event;
    event.kind = kind;
    event.role = role;
    event.timeNs = nowNs();
    event.address = reinterpret_cast<std::uintptr_t>(address);
    event.sizeBytes = static_cast<std::int64_t>(sizeBytes);
    event.allocatedBytes = stats.allocatedBytes;
    event.reservedBytes = stats.reservedBytes;
    event.opId = threadState().op ? threadState().op->id : 0;
    event.step = m_step;
    for (Observer* o : m_observers) o->onMemory(event);
}

namespace {

// Plain bool: still readable when this thread's other objects are gone.
constinit thread_local bool t_threadEnded = false;

/// A thread's state with a Context of its own, for threads that entered none.
struct ThreadHolder {
    std::unique_ptr<Context> own = std::make_unique<Context>();
    ThreadState state = freshState(own.get(), nextThreadNumber());
    ThreadHolder() { detail::t_threadState = &state; }
    ~ThreadHolder() {
        detail::t_threadState = nullptr;
        t_threadEnded = true;
    }
    ThreadHolder(const ThreadHolder&) = delete;
    ThreadHolder& operator=(const ThreadHolder&) = delete;
};

/// For tensors in static objects, which die after the main thread's state. Never destroyed.
ThreadState& lateState() {
    static auto* state = new ThreadState(freshState(new Context(), 0));
    return *state;
}

}  // namespace

constinit thread_local ThreadState* detail::t_threadState = nullptr;

ThreadState& detail::openThreadState() {
    if (t_threadEnded) return lateState();
    thread_local ThreadHolder holder;
    return holder.state;
}

ContextScope::ContextScope(Context& context) : m_saved(threadState()) {
    threadState() = freshState(&context, m_saved.thread);
}

ContextScope::~ContextScope() { threadState() = m_saved; }

}  // namespace tapescope::engine
