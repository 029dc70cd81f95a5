// SPDX-License-Identifier: Apache-2.0
#include "app/cli/doctor.h"

#include "app/cli/gpu_doctor.h"
#include "app/runner/environment.h"

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <sstream>
#include <unistd.h>

namespace tapescope::app {
namespace {

namespace fs = std::filesystem;

/// A library open for as long as we ask it questions.
class Library {
public:
    explicit Library(const std::string& name)
        // Stays loaded: a library with its own C++ runtime would leave that runtime's memory
        // behind.
        : m_handle(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
        if (!m_handle) {
            const char* error = dlerror();
            m_error = error ? error : "unknown error";
        }
    }
    ~Library() {
        if (m_handle) dlclose(m_handle);
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    explicit operator bool() const { return m_handle != nullptr; }
    const std::string& error() const { return m_error; }
    template <class Fn>
    Fn* symbol(const char* name) const {
        return reinterpret_cast<Fn*>(dlsym(m_handle, name));
    }
    std::string path(const char* symbolName) const {
        Dl_info info{};
        void* at = m_handle ? dlsym(m_handle, symbolName) : nullptr;
        return at && dladdr(at, &info) != 0 && info.dli_fname ? info.dli_fname : "";
    }

private:
    void* m_handle;
    std::string m_error;
};

std::string dotted(int version, int majorUnit, int minorUnit) {
    return std::to_string(version / majorUnit) + "." +
           std::to_string(version % majorUnit / minorUnit);
}

std::string fromEnvironment(std::string_view key) {
    for (const auto& [name, value] : describeEnvironment()) {
        if (name == key) return value;
    }
    return "";
}

std::string findOnPath(const char* program) {
    const char* path = std::getenv("PATH");
    std::stringstream list(path ? path : "");
    std::string folder;
    while (std::getline(list, folder, ':')) {
        const fs::path candidate = fs::path(folder) / program;
        if (access(candidate.c_str(), X_OK) == 0) return candidate.string();
    }
    return "";
}

Finding linked(const std::string& what, const std::string& key, const std::string& neededFor) {
    Finding f{what, true, true, fromEnvironment(key), "", neededFor, ""};
    return f;
}

Finding workbench() {
    Finding f{"workbench",
              false,
              false,
              "",
              "",
              "the window",
              "build with Qt 6 and QCustomPlot: apt-get install "
              "qt6-base-dev libqt6svg6-dev libqcustomplot-dev, then build again"};
    std::error_code error;
    const fs::path here =
        fs::read_symlink("/proc/self/exe", error).parent_path() / "tapescope-workbench";
    const std::string found =
        access(here.c_str(), X_OK) == 0 ? here.string() : findOnPath("tapescope-workbench");
    f.found = !found.empty();
    f.detail = found;
    return f;
}

Finding qt() {
    Finding f{"Qt",
              false,
              false,
              "",
              "",
              "the window",
              "apt-get install libqt6widgets6 libqt6svg6 libqcustomplot2.1-qt6"};
    const Library core("libQt6Core.so.6");
    f.found = static_cast<bool>(core);
    if (!f.found) return f;
    if (const auto version = core.symbol<const char*()>("qVersion")) f.version = version();
    f.detail = core.path("qVersion");
    return f;
}

CudaAnswer askCudaDriver() {
    CudaAnswer answer;
    const Library cuda("libcuda.so.1");
    answer.libraryFound = static_cast<bool>(cuda);
    answer.loadError = cuda.error();
    if (!cuda) return answer;
    const auto version = cuda.symbol<int(int*)>("cuDriverGetVersion");
    const auto init = cuda.symbol<int(unsigned)>("cuInit");
    const auto count = cuda.symbol<int(int*)>("cuDeviceGetCount");
    const auto name = cuda.symbol<int(char*, int, int)>("cuDeviceGetName");
    if (version) version(&answer.driverVersion);
    answer.initResult = init ? init(0) : -1;
    int devices = 0;
    if (answer.initResult != 0 || !count || count(&devices) != 0 || !name) return answer;
    for (int i = 0; i < devices; ++i) {
        std::array<char, 256> text{};
        if (name(text.data(), static_cast<int>(text.size()) - 1, i) == 0)
            answer.devices.emplace_back(text.data());
    }
    return answer;
}

Finding toolkit() {
    Finding f{"CUDA toolkit",
              false,
              false,
              "",
              "",
              "building CUDA code (nvcc); nothing here needs it to run",
              "install NVIDIA's cuda-toolkit package and put its bin folder on PATH"};
    f.detail = findOnPath("nvcc");
    f.found = !f.detail.empty();
    if (!f.found) return f;
    // The toolkit says its version in version.json beside bin/; nvcc itself would have to be run.
    const fs::path root = fs::weakly_canonical(f.detail).parent_path().parent_path();
    std::error_code error;
    f.version =
        root.filename().string().starts_with("cuda-") ? root.filename().string().substr(5) : "";
    f.detail = root.string();
    return f;
}

/// Libraries of the toolkit are often outside the loader's path.
std::vector<std::string> cudaCandidates(std::initializer_list<const char*> names) {
    std::vector<std::string> out(names.begin(), names.end());
    const char* home = std::getenv("CUDA_HOME");
    for (const fs::path& root : {fs::path(home ? home : ""), fs::path("/usr/local/cuda")}) {
        if (root.empty()) continue;
        for (const char* name : names) {
            out.push_back((root / "extras/CUPTI/lib64" / name).string());
            out.push_back((root / "lib64" / name).string());
        }
    }
    return out;
}

Finding cupti() {
    Finding f{"CUPTI",
              false,
              false,
              "",
              "",
              "timelines of GPU kernels and copies",
              "comes with the CUDA toolkit (extras/CUPTI), or: pip install nvidia-cuda-cupti"};
    for (const std::string& name :
         cudaCandidates({"libcupti.so", "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8"})) {
        const Library library(name);
        const auto version = library ? library.symbol<int(unsigned*)>("cuptiGetVersion") : nullptr;
        unsigned number = 0;
        if (!version || version(&number) != 0) continue;
        f.found = true;
        f.version = "API " + std::to_string(number);
        f.detail = library.path("cuptiGetVersion");
        return f;
    }
    return f;
}

Finding cudnn() {
    Finding f{"cuDNN",
              false,
              false,
              "",
              "",
              "convolutions on a GPU",
              "apt-get install cudnn9-cuda-13 (NVIDIA's repository)"};
    for (const std::string& name : cudaCandidates({"libcudnn.so.9", "libcudnn.so.8"})) {
        const Library library(name);
        const auto version = library ? library.symbol<std::size_t()>("cudnnGetVersion") : nullptr;
        if (!version) continue;
        const auto number = static_cast<int>(version());
        f.found = true;
        // 9.x.y is 9xxyy; 8.x.y was 8xyy.
        f.version = number >= 90000 ? dotted(number, 10000, 100) : dotted(number, 1000, 100);
        f.detail = library.path("cudnnGetVersion");
        return f;
    }
    return f;
}

Finding compiler() {
    Finding f{"C++ compiler",
              false,
              false,
              "",
              "",
              "models of your own, compiled against the installed headers",
              "apt-get install g++"};
    f.detail = findOnPath("g++");
    f.found = !f.detail.empty();
    return f;
}

}  // namespace

Finding judgeCudaDriver(const CudaAnswer& answer) {
    Finding f{
        "CUDA driver", false, false, "", "", "running on a GPU and recording CUDA programs", ""};
    if (answer.driverVersion > 0) f.version = dotted(answer.driverVersion, 1000, 10);
    if (!answer.libraryFound) {
        f.detail = answer.loadError;
        f.remedy =
            "install NVIDIA's driver (it brings libcuda.so.1); in a container start it with --gpus "
            "all";
        return f;
    }
    switch (answer.initResult) {
        case 0:
            break;
        case 100:  // CUDA_ERROR_NO_DEVICE
            f.detail = "the driver sees no device";
            f.remedy =
                "check that nvidia-smi lists a GPU and that CUDA_VISIBLE_DEVICES does not hide it";
            return f;
        case 803:  // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
            f.detail = "libcuda and the kernel module are of different versions";
            f.remedy = "reboot after the driver update, or reload the nvidia kernel modules";
            return f;
        case 34:  // CUDA_ERROR_STUB_LIBRARY
            f.detail = "the toolkit's link-time stub of libcuda was loaded instead of the driver";
            f.remedy =
                "take the toolkit's stubs folder out of LD_LIBRARY_PATH and install NVIDIA's "
                "driver";
            return f;
        default:
            f.detail = "cuInit failed with error " + std::to_string(answer.initResult);
            f.remedy = "see nvidia-smi and the kernel log (dmesg | grep -i nvrm)";
            return f;
    }
    f.found = true;
    for (const std::string& device : answer.devices)
        f.detail += (f.detail.empty() ? "" : ", ") + device;
    if (f.detail.empty()) f.detail = "no device";
    return f;
}

std::vector<Finding> examine() {
    Finding dnnl = linked("oneDNN", "onednn", "convolutions and matrix products on the CPU");
    Finding sqlite = linked("SQLite", "sqlite", "reading and writing tapes");
    // First: it goes by the libcupti that is in the process, and cupti() loads one.
    std::vector<Finding> recording = examineGpuRecording();
    std::vector<Finding> all{dnnl,
                             sqlite,
                             Finding{"CPU", true, true, "", fromEnvironment("cpu"), "", ""},
                             qt(),
                             workbench(),
                             compiler(),
                             judgeCudaDriver(askCudaDriver()),
                             toolkit(),
                             cupti(),
                             cudnn()};
    for (Finding& f : recording) all.push_back(std::move(f));
    return all;
}

}  // namespace tapescope::app
