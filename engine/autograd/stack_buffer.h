// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace tapescope::engine {

/// n value-initialised T whose number is known only at run time: on the stack up to N, so that a
/// backward step of an ordinary operator asks nothing of the heap.
template <class T, std::size_t N>
class StackBuffer {
public:
    explicit StackBuffer(std::size_t n) : m_size(n) {
        if (n > N) m_more = std::make_unique<T[]>(n);
    }
    T* data() { return m_more ? m_more.get() : m_few.data(); }
    std::size_t size() const { return m_size; }
    std::span<T> span() { return {data(), m_size}; }
    T& operator[](std::size_t i) { return data()[i]; }

private:
    std::array<T, N> m_few{};
    std::unique_ptr<T[]> m_more;
    std::size_t m_size;
};

}  // namespace tapescope::engine
