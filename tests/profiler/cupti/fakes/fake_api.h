// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <dlfcn.h>

/// What the fake libcupti has beside CUPTI's functions. It is looked up in the libcupti that the
/// process has, because the collector chooses which.
namespace tapescope::profiler::cupti::fake {

class Cupti {
public:
    Cupti() = default;
    explicit Cupti(void* handle) : m_handle(handle) {}
    explicit operator bool() const { return m_handle != nullptr; }

    /// Writes a record if its kind is on, as the thread that calls.
    template <class Record>
    void emit(const Record& r) const {
        call<void>("fake_cupti_emit", static_cast<const void*>(r.bytes.data()));
    }
    /// Start of an API call; its correlation id. Runs callbacks.
    std::uint32_t begin(std::uint32_t call_, std::uint64_t& start) const {
        return call<std::uint32_t>("fake_cupti_api_begin", call_, &start);
    }
    void end(std::uint32_t call_, std::uint32_t correlation, std::uint64_t start,
             std::uint32_t result = 0) const {
        call<void>("fake_cupti_api_end", call_, correlation, start, result);
    }
    std::uint64_t now() const { return call<std::uint64_t>("fake_cupti_now"); }
    void drop(std::size_t records) const { call<void>("fake_cupti_drop", records); }
    /// The last record of this thread's buffer loses its last bytes.
    void cut(std::size_t bytes) const { call<void>("fake_cupti_cut", bytes); }
    void report(int result, const char* message) const {
        call<void>("fake_cupti_report", result, message);
    }
    void contextCreated(std::uint32_t device) const {
        call<void>("fake_cupti_context_created", device);
    }
    /// Another tool registers its own buffer functions, as torch.profiler does.
    void takeOver() const { call<void>("fake_cupti_take_over"); }
    std::size_t outstandingBuffers() const { return call<std::size_t>("fake_cupti_outstanding"); }

private:
    template <class Result, class... Args>
    Result call(const char* name, Args... args) const {
        const auto f = m_handle != nullptr
                           ? reinterpret_cast<Result (*)(Args...)>(dlsym(m_handle, name))
                           : nullptr;
        if (f != nullptr) return f(args...);
        return Result();
    }
    void* m_handle = nullptr;
};

}  // namespace tapescope::profiler::cupti::fake
