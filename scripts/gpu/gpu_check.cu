// SPDX-License-Identifier: Apache-2.0
// What the check on a GPU runs under the injection library. Prints one JSON line a result; the tape is compared with them
// by check_tape.py. usage: gpu_check basic|clock|duration|threads|burst|overhead|exit [HOW]|embedded FOLDER
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

static void check(cudaError_t e, int line) {
    if (e == cudaSuccess) return;
    std::printf("{\"test\":\"error\",\"text\":\"%s\",\"line\":%d}\n", cudaGetErrorString(e), line);
    std::fflush(stdout);
    std::exit(3);
}
#define CK(call) check((call), __LINE__)

static long long nowNs() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

__global__ void tiny(float* p) {
    if (p) p[threadIdx.x] += 1.0F;
}
__global__ void inGraph(float* p) {
    if (p) p[threadIdx.x] *= 0.5F;
}
// A name for each duration, so that the tape's sums tell them apart.
template <int kMicroseconds>
__global__ void spin() {
    unsigned long long begin = 0;
    unsigned long long now = 0;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - begin < kMicroseconds * 1000ULL);
}

static double usedMib() {
    size_t free = 0;
    size_t total = 0;
    CK(cudaMemGetInfo(&free, &total));
    return static_cast<double>(total - free) / (1 << 20);
}

static void basic() {
    cudaStream_t one = nullptr;
    cudaStream_t two = nullptr;
    CK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    constexpr size_t kBytes = 1 << 20;
    float* a = nullptr;
    float* b = nullptr;
    float* pinned = nullptr;
    static float host[kBytes / sizeof(float)];
    CK(cudaMalloc(&a, kBytes));
    CK(cudaMalloc(&b, kBytes));
    CK(cudaMallocHost(&pinned, kBytes));
    CK(cudaMemcpy(a, host, kBytes, cudaMemcpyHostToDevice));
    CK(cudaMemcpyAsync(a, pinned, kBytes, cudaMemcpyHostToDevice, one));
    CK(cudaMemcpyAsync(b, a, kBytes, cudaMemcpyDeviceToDevice, one));
    CK(cudaMemcpyAsync(pinned, b, kBytes, cudaMemcpyDeviceToHost, one));
    CK(cudaMemsetAsync(b, 0, 4096, two));
    nvtxRangePushA("outer");
    nvtxRangePushA("inner");
    for (int i = 0; i < 100; ++i) tiny<<<dim3(3, 2, 1), 64, 256, i % 2 ? one : two>>>(a);
    nvtxRangePop();
    CK(cudaDeviceSynchronize());
    nvtxRangePop();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    CK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 20; ++i) inGraph<<<1, 32, 0, one>>>(a);
    CK(cudaStreamEndCapture(one, &graph));
    CK(cudaGraphInstantiate(&ready, graph, 0));
    for (int i = 0; i < 10; ++i) CK(cudaGraphLaunch(ready, one));
    CK(cudaDeviceSynchronize());
    CK(cudaFree(a));
    CK(cudaFree(b));
    CK(cudaFreeHost(pinned));
    std::printf("{\"test\":\"basic\",\"addresses\":[%llu,%llu],\"device_used_mib\":%.0f}\n",
                static_cast<unsigned long long>(reinterpret_cast<size_t>(a)),
                static_cast<unsigned long long>(reinterpret_cast<size_t>(b)), usedMib());
}

// Kernels far apart, each between two looks at the host's clock.
static void clocks() {
    spin<20><<<1, 1>>>();
    CK(cudaDeviceSynchronize());
    std::string around;
    for (int i = 0; i < 60; ++i) {
        usleep(20000);
        const long long before = nowNs();
        spin<100><<<1, 1>>>();
        CK(cudaDeviceSynchronize());
        around += (i ? ",[" : "[") + std::to_string(before) + "," + std::to_string(nowNs()) + "]";
    }
    std::printf("{\"test\":\"clock\",\"around\":[%s]}\n", around.c_str());
}

// The collector inside the program, started late; ids of ours around launches; goes on after it stopped.
static void embedded(const char* folder) {
    void* library = dlopen("./libtapescope-gpu-embedded.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        std::printf("{\"test\":\"error\",\"text\":\"no libtapescope-gpu-embedded.so\"}\n");
        std::exit(3);
    }
    const auto start = reinterpret_cast<int (*)(const char*)>(dlsym(library, "tapescopeCheckStart"));
    const auto push = reinterpret_cast<void (*)(uint64_t)>(dlsym(library, "tapescopeCheckPush"));
    const auto pop = reinterpret_cast<void (*)()>(dlsym(library, "tapescopeCheckPop"));
    const auto stop = reinterpret_cast<void (*)()>(dlsym(library, "tapescopeCheckStop"));
    if (!start(folder)) std::printf("{\"test\":\"error\",\"text\":\"the collector does not trace\"}\n");
    for (int i = 0; i < 100; ++i) {
        push(1000 + i);
        tiny<<<1, 64>>>(nullptr);
        pop();
    }
    CK(cudaDeviceSynchronize());
    stop();
    for (int i = 0; i < 50; ++i) inGraph<<<1, 64>>>(nullptr);
    CK(cudaDeviceSynchronize());
    std::printf("{\"test\":\"embedded\",\"first\":1000,\"count\":100}\n");
}

template <int kMicroseconds>
static void duration() {
    cudaEvent_t before = nullptr;
    cudaEvent_t after = nullptr;
    CK(cudaEventCreate(&before));
    CK(cudaEventCreate(&after));
    spin<kMicroseconds><<<1, 1>>>();
    CK(cudaEventRecord(before));
    spin<kMicroseconds><<<1, 1>>>();
    CK(cudaEventRecord(after));
    CK(cudaEventSynchronize(after));
    float ms = 0;
    CK(cudaEventElapsedTime(&ms, before, after));
    std::printf("{\"test\":\"duration\",\"us\":%d,\"event_ns\":%.0f}\n", kMicroseconds, ms * 1e6);
}

static void launches(const char* test, int threads, int each) {
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
        all.emplace_back([each] {
            cudaStream_t stream = nullptr;
            CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            for (int i = 0; i < each; ++i) tiny<<<1, 32, 0, stream>>>(nullptr);
            CK(cudaStreamSynchronize(stream));
        });
    }
    for (std::thread& thread : all) thread.join();
    std::printf("{\"test\":\"%s\",\"kernels\":%d}\n", test, threads * each);
}

static void overhead() {
    constexpr int kLaunches = 100000;
    for (int i = 0; i < 2000; ++i) tiny<<<1, 32>>>(nullptr);
    CK(cudaDeviceSynchronize());
    for (int round = 0; round < 3; ++round) {
        const long long begin = nowNs();
        for (int i = 0; i < kLaunches; ++i) tiny<<<1, 32>>>(nullptr);
        const long long launched = nowNs();
        CK(cudaDeviceSynchronize());
        std::printf("{\"test\":\"overhead\",\"launch_ns\":%.1f,\"with_sync_ns\":%.1f}\n",
                    static_cast<double>(launched - begin) / kLaunches,
                    static_cast<double>(nowNs() - begin) / kLaunches);
    }
}

static void end(const std::string& how) {
    for (int i = 0; i < 100; ++i) tiny<<<1, 32>>>(nullptr);
    CK(cudaDeviceSynchronize());
    std::printf("{\"test\":\"exit\",\"kernels\":100}\n");
    std::fflush(stdout);
    if (how == "_exit" || how == "abort") usleep(1500000);  // what was flushed must be there
    if (how == "_exit") _exit(0);
    if (how == "abort") abort();
    if (how == "reset") CK(cudaDeviceReset());
}

int main(int argc, char** argv) {
    const std::string test = argc > 1 ? argv[1] : "basic";
    CK(cudaFree(nullptr));
    if (test == "basic") basic();
    if (test == "clock") clocks();
    if (test == "embedded") embedded(argc > 2 ? argv[2] : ".");
    if (test == "duration") {
        duration<5>();
        duration<20>();
        duration<100>();
        duration<1000>();
        duration<10000>();
    }
    if (test == "threads") launches("threads", 8, 5000);
    if (test == "burst") launches("burst", 1, 400000);
    if (test == "overhead") overhead();
    if (test == "exit") end(argc > 2 ? argv[2] : "return");
    return 0;
}
