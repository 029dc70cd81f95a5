// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/memory/allocator.h"
#include "engine/observe/observer.h"
#include "engine/random.h"

#include <atomic>
#include <memory>
#include <vector>

namespace tapescope::engine {

/// One run's state that threads share: observers, random numbers, allocator, counters. A thread
/// works for the Context it entered with ContextScope, else for a default one of its own; two runs
/// in one process stay apart.
class Context final {
public:
    explicit Context(CachingAllocator& allocator = CachingAllocator::cpu());
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    static Context& current() noexcept;

    /// The observer must outlive its registration. Not while operators of this Context run.
    void addObserver(Observer& observer);
    void removeObserver(Observer& observer);
    bool watched() const noexcept { return m_watched; }
    const std::vector<Observer*>& observers() const noexcept { return m_observers; }

    CachingAllocator& allocator() const noexcept { return m_allocator; }
    Generator& generator() noexcept { return m_generator; }
    std::uint64_t nextOpId() noexcept { return m_nextOpId.fetch_add(1, std::memory_order_relaxed); }

    std::int64_t step() const noexcept { return m_step.load(std::memory_order_relaxed); }
    /// Number steps from 0; tells observers.
    void beginStep(std::int64_t step);
    void endStep();

    /// The interned frame for calling a module from `site` inside `parent`.
    const ModuleFrame* internFrame(const ModuleFrame* parent, const std::string& path,
                                   const std::string& typeName, Site site);

    void notifyMemory(MemoryEvent::Kind kind, MemoryRole role, const void* address,
                      std::size_t sizeBytes);

private:
    CachingAllocator& m_allocator;
    Generator m_generator;
    std::vector<Observer*> m_observers;
    bool m_watched = false;
    std::atomic<std::int64_t> m_step{-1};  ///< loader threads' memory events read it
    std::atomic<std::uint64_t> m_nextOpId{1};
    struct FrameTable;
    std::unique_ptr<FrameTable> m_frames;
};

class SavedTensorsHooks;

/// What belongs to one thread of a run.
struct ThreadState {
    Context* context = nullptr;
    bool gradEnabled = true;
    bool inference = false;                         ///< InferenceMode
    bool anomaly = false;                           ///< DetectAnomaly
    const SavedTensorsHooks* savedHooks = nullptr;  ///< innermost
    Phase phase = Phase::Other;
    const ModuleFrame* module = nullptr;
    const BackwardFrame* backward = nullptr;
    const OpCall* op = nullptr;  ///< innermost running call, for observers' memory events
    std::uint32_t thread = 0;
};
namespace detail {
/// Null until the thread first asks, and once its own state is gone.
extern constinit thread_local ThreadState* t_threadState;
ThreadState& openThreadState();
}  // namespace detail

/// This thread's state; context is never null.
inline ThreadState& threadState() {
    if (ThreadState* state = detail::t_threadState) [[likely]]
        return *state;
    return detail::openThreadState();
}
/// True while a gradient is computed: operators are then the forward call's, not the user's.
inline bool inGradient(const ThreadState& state) {
    return state.backward && !state.backward->recomputes;
}
inline Context& Context::current() noexcept { return *threadState().context; }

/// This thread works for context until the scope ends; everything else of the state starts fresh
/// and is restored after.
class ContextScope final {
public:
    explicit ContextScope(Context& context);
    ~ContextScope();
    ContextScope(const ContextScope&) = delete;
    ContextScope& operator=(const ContextScope&) = delete;

private:
    ThreadState m_saved;
};

/// with torch.no_grad(): / enable_grad
class GradModeGuard final {
public:
    explicit GradModeGuard(bool enabled) : m_saved(threadState().gradEnabled) {
        threadState().gradEnabled = enabled;
    }
    ~GradModeGuard() { threadState().gradEnabled = m_saved; }
    GradModeGuard(const GradModeGuard&) = delete;
    GradModeGuard& operator=(const GradModeGuard&) = delete;

private:
    bool m_saved;
};
class NoGradGuard final {
    GradModeGuard m_guard{false};
};
class EnableGradGuard final {
    GradModeGuard m_guard{true};
};
inline bool grad_enabled() { return threadState().gradEnabled; }
/// Until the enclosing guard ends, or for good.
inline void set_grad_enabled(bool enabled) { threadState().gradEnabled = enabled; }

/// with torch.inference_mode(): no graph, and tensors made here are barred from every later one.
class InferenceMode final {
public:
    explicit InferenceMode(bool enabled = true)
        : m_grad(threadState().gradEnabled), m_inference(threadState().inference) {
        threadState().gradEnabled = !enabled;
        threadState().inference = enabled;
    }
    ~InferenceMode() {
        threadState().gradEnabled = m_grad;
        threadState().inference = m_inference;
    }
    InferenceMode(const InferenceMode&) = delete;
    InferenceMode& operator=(const InferenceMode&) = delete;

private:
    bool m_grad;
    bool m_inference;
};
inline bool is_inference_mode_enabled() { return threadState().inference; }

class PhaseScope final {
public:
    explicit PhaseScope(Phase phase) : m_saved(threadState().phase) { threadState().phase = phase; }
    ~PhaseScope() { threadState().phase = m_saved; }
    PhaseScope(const PhaseScope&) = delete;
    PhaseScope& operator=(const PhaseScope&) = delete;

private:
    Phase m_saved;
};

}  // namespace tapescope::engine
