// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace tapescope::engine {

/// Base of intrusively counted objects. T derives from RefCounted and defines `static void
/// destroy(T*) noexcept`.
class RefCounted {
public:
    RefCounted() = default;
    RefCounted(const RefCounted&) = delete;
    RefCounted& operator=(const RefCounted&) = delete;
    void retain() const noexcept { m_count.fetch_add(1, std::memory_order_relaxed); }
    /// True when this was the last reference. An unshared object needs no locked instruction.
    bool release() const noexcept {
        if (m_count.load(std::memory_order_acquire) == 1) return true;
        return m_count.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }
    std::uint32_t useCount() const noexcept { return m_count.load(std::memory_order_relaxed); }

protected:
    ~RefCounted() = default;

private:
    mutable std::atomic<std::uint32_t> m_count{1};
};

/// Intrusive pointer. Ref<T>::adopt takes over the creator's count.
template <class T>
class Ref {
public:
    constexpr Ref() = default;
    constexpr Ref(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
    static Ref adopt(T* p) noexcept {
        Ref r;
        r.m_p = p;
        return r;
    }
    static Ref share(T* p) noexcept {
        if (p) p->retain();
        return adopt(p);
    }
    Ref(const Ref& o) noexcept : m_p(o.m_p) {
        if (m_p) m_p->retain();
    }
    Ref(Ref&& o) noexcept : m_p(std::exchange(o.m_p, nullptr)) {}
    Ref& operator=(const Ref& o) noexcept {
        Ref(o).swap(*this);
        return *this;
    }
    Ref& operator=(Ref&& o) noexcept {
        Ref(std::move(o)).swap(*this);
        return *this;
    }
    ~Ref() {
        if (m_p && m_p->release()) T::destroy(m_p);
    }
    void swap(Ref& o) noexcept { std::swap(m_p, o.m_p); }
    void reset() noexcept { Ref().swap(*this); }
    /// Hands the count to the caller.
    T* detach() noexcept { return std::exchange(m_p, nullptr); }
    T* get() const noexcept { return m_p; }
    T* operator->() const noexcept { return m_p; }
    T& operator*() const noexcept { return *m_p; }
    explicit operator bool() const noexcept { return m_p != nullptr; }
    friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.m_p == b.m_p; }

private:
    T* m_p = nullptr;
};

}  // namespace tapescope::engine
