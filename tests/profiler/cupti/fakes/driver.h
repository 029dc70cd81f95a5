// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <string>

/// The driver as frameworks use it: by dlopen and by name.
class Driver {
public:
    Driver() : m_handle(dlopen("libcuda.so.1", RTLD_NOW)) {}
    explicit operator bool() const { return m_handle != nullptr; }
    /// 0 if the driver has no such call.
    template <class... Args>
    int operator()(const char* name, Args... args) const {
        const auto f = reinterpret_cast<int (*)(Args...)>(dlsym(m_handle, name));
        return f != nullptr ? f(args...) : 0;
    }
    void launch(const char* kernel, unsigned grid, unsigned block, void* stream = nullptr,
                std::uint64_t durationNs = 3000) const {
        (*this)("cuLaunchKernel", kernel, grid, 2U, 1U, block, 1U, 1U, 0U, stream,
                static_cast<void**>(nullptr), reinterpret_cast<void**>(&durationNs));
    }

private:
    void* m_handle;
};
