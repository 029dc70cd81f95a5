// SPDX-License-Identifier: Apache-2.0
// An innocent "CUDA program". fake_target HOW N: does some work and ends the way HOW says.
#include "tests/profiler/cupti/fakes/driver.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

void work(const Driver& driver, int launches) {
    static char host[1 << 16];
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    driver("cuMemAlloc_v2", &a, std::size_t{1} << 20U);
    driver("cuMemAllocAsync", &b, std::size_t{4096}, static_cast<void*>(nullptr));
    driver("cuMemcpyHtoD_v2", a, static_cast<const void*>(host), sizeof host);
    for (int i = 0; i < launches; ++i)
        driver.launch(i % 2 == 1 ? "_Z4axpyPKfS0_Pfi" : "_Z4gemmPKfS0_Pfi", 10, 256);
    driver("cuGraphLaunch", 5, static_cast<void*>(nullptr));
    driver("cuCtxSynchronize");
    driver("cuMemFree_v2", a);
}

/// Something with a destructor that is made early and dies late.
struct Late {
    ~Late() { std::fputs("target: late\n", stdout); }
};

void waitForFlush() {
    const char* ms = std::getenv("TARGET_WAIT_MS");
    usleep(static_cast<useconds_t>(ms != nullptr ? std::atoi(ms) : 400) * 1000);
}

}  // namespace

int main(int argc, char** argv) {
    static const Late late;
    const std::string how = argc > 1 ? argv[1] : "exit";
    const int n = argc > 2 ? std::atoi(argv[2]) : 100;
    const Driver driver;
    if (!driver) {
        std::puts("target: no CUDA, working on the CPU");
        return 0;
    }
    if (how == "preforked") {  // the parent never uses CUDA, its children do
        for (int i = 0; i < 3; ++i) {
            if (fork() == 0) {
                driver("cuInit", 0U);
                work(driver, n);
                std::exit(0);
            }
        }
        while (wait(nullptr) > 0) {
        }
        std::puts("target: done");
        return 0;
    }
    if (how == "nvtxfirst") {  // as NVTX's header does at the first NVTX call
        const char* path = std::getenv("NVTX_INJECTION64_PATH");
        void* library = path != nullptr ? dlopen(path, RTLD_NOW) : nullptr;
        const auto init =
            library != nullptr
                ? reinterpret_cast<int (*)(void*)>(dlsym(library, "InitializeInjectionNvtx2"))
                : nullptr;
        std::printf("target: NVTX %d\n", init != nullptr ? init(nullptr) : -1);
    }
    if (const int result = driver("cuInit", 0U); result != 0) {
        std::printf("target: cuInit %d, working on the CPU\n", result);
        return 0;
    }
    if (how == "threads") {
        std::vector<std::thread> threads;
        for (int i = 0; i < 8; ++i) threads.emplace_back([&] { work(driver, n); });
        for (std::thread& t : threads) t.join();
    } else if (how == "idle") {
        // uses no CUDA after cuInit
    } else {
        work(driver, n);
    }
    if (how == "fork") {
        if (fork() == 0) std::exit(0);
        wait(nullptr);
        work(driver, 1);
    }
    if (how == "forkwork") {
        if (fork() == 0) {
            work(driver, 3);
            std::exit(0);
        }
        wait(nullptr);
    }
    if (how == "forkexec") {
        if (fork() == 0) {
            execl("/proc/self/exe", argv[0], "exit", argv[2], static_cast<char*>(nullptr));
            _exit(1);
        }
        wait(nullptr);
    }
    if (how == "forkstorm") {  // at any moment of other threads' work
        std::atomic<bool> done{false};
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i) {
            threads.emplace_back([&] {
                while (!done) driver.launch("k", 1, 32);
            });
        }
        int bad = 0;
        for (int i = 0; i < 40; ++i) {
            if (fork() == 0) std::exit(9);
            int status = 0;
            wait(&status);
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 9) ++bad;
        }
        done = true;
        for (std::thread& t : threads) t.join();
        if (bad != 0) return 1;
    }
    if (how == "ctxdestroy") driver("cuCtxDestroy_v2", static_cast<void*>(nullptr));
    if (how == "takeover") {
        driver("fakeTakeOver");
        for (int i = 0; i < 50; ++i) {
            driver.launch("k", 1, 32);
            usleep(20'000);
        }
    }
    if (how == "otherthread") {  // exit() from a thread that is not the main one
        std::thread([] { std::exit(3); }).join();
    }
    if (how == "quick_exit") {
        waitForFlush();
        std::quick_exit(4);
    }
    if (how == "_exit") {
        waitForFlush();
        _exit(5);
    }
    if (how == "kill") {
        waitForFlush();
        raise(SIGKILL);
    }
    if (how == "abort") {
        waitForFlush();
        std::abort();
    }
    if (how == "throw") {
        waitForFlush();
        std::set_terminate([] { _exit(6); });
        throw 1;
    }
    if (how == "code") std::exit(7);
    std::puts("target: done");
    return 0;
}
