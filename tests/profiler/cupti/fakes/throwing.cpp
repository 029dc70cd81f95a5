// SPDX-License-Identifier: Apache-2.0
// Linked as the injection library is: do exceptions still find their way with old_glibc.cpp?
#include <cstdlib>
#include <new>
#include <random>
#include <stdexcept>
#include <string>

namespace {

[[gnu::noinline]] void deep(int n) {
    if (n == 0) throw std::runtime_error("from below");
    const std::string text(static_cast<std::size_t>(n), 'x');
    deep(n - 1);
    if (text.empty()) std::abort();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int throwAndCatch() {
    try {
        deep(20);
    } catch (const std::runtime_error& e) {
        return std::string(e.what()) == "from below" ? 1 : 2;
    }
    return 0;
}
extern "C" __attribute__((visibility("default"))) int randomNumbersDiffer() {
    std::random_device random;
    const unsigned a = random();
    const unsigned b = random();
    const unsigned c = random();
    return a != b || b != c ? 1 : 0;
}
