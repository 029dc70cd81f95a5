// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace tapescope::storage {

/// Success, or one sentence for the user: what failed, where, and the remedy.
class [[nodiscard]] Status {
public:
    Status() = default;
    static Status error(std::string message) {
        Status s;
        s.m_message = std::move(message);
        s.m_ok = false;
        return s;
    }
    bool ok() const { return m_ok; }
    const std::string& message() const { return m_message; }
    /// "context: message"
    Status withContext(const std::string& context) const {
        return m_ok ? *this : error(context + ": " + m_message);
    }

private:
    bool m_ok = true;
    std::string m_message;
};

/// A value, or why there is none.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : m_state(std::move(value)) {}        // NOLINT(google-explicit-constructor)
    Result(Status status) : m_state(std::move(status)) {  // NOLINT(google-explicit-constructor)
        assert(!std::get<Status>(m_state).ok());
    }
    bool ok() const { return std::holds_alternative<T>(m_state); }
    Status status() const { return ok() ? Status() : std::get<Status>(m_state); }
    const T& value() const& { return std::get<T>(m_state); }
    T& value() & { return std::get<T>(m_state); }
    T&& value() && { return std::get<T>(std::move(m_state)); }
    const T& operator*() const& { return value(); }
    /// By value, so that `for (const auto& row : *reader.rows())` does not walk over a dead
    /// temporary.
    T operator*() && { return std::get<T>(std::move(m_state)); }
    T& operator*() & { return value(); }
    const T* operator->() const { return &value(); }
    T* operator->() { return &value(); }

private:
    std::variant<T, Status> m_state;
};

}  // namespace tapescope::storage
