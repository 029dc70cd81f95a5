// SPDX-License-Identifier: Apache-2.0
// Lets the injection library run on systems older than the one it was built on: newer functions of
// the C library that the static C++ runtime would ask for are answered here instead. Hidden, so
// that nobody else gets them.
#include <cstdint>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

/// glibc 2.36. libstdc++'s std::random_device prefers it; here it is for names of runs only.
extern "C" std::uint32_t arc4random() {
    std::uint32_t value = 0;
    const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (read(fd, &value, sizeof value) != static_cast<ssize_t>(sizeof value))
            value ^= static_cast<std::uint32_t>(getpid());
        close(fd);
    }
    return value;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
namespace {

struct Search {
    std::uintptr_t address;
    dl_find_object* to;
    bool found;
};

int look(dl_phdr_info* info, std::size_t /*size*/, void* data) {
    auto& search = *static_cast<Search*>(data);
    std::uintptr_t begin = UINTPTR_MAX;
    std::uintptr_t end = 0;
    const void* frames = nullptr;
    bool inside = false;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& header = info->dlpi_phdr[i];
        const std::uintptr_t at = info->dlpi_addr + header.p_vaddr;
        if (header.p_type == PT_GNU_EH_FRAME) frames = reinterpret_cast<const void*>(at);
        if (header.p_type != PT_LOAD) continue;
        begin = at < begin ? at : begin;
        end = at + header.p_memsz > end ? at + header.p_memsz : end;
        inside = inside || (search.address >= at && search.address - at < header.p_memsz);
    }
    if (!inside || frames == nullptr) return 0;
    search.to->dlfo_flags = 0;
    search.to->dlfo_map_start = reinterpret_cast<void*>(begin);
    search.to->dlfo_map_end = reinterpret_cast<void*>(end);
    search.to->dlfo_link_map = nullptr;  // the unwinder does not look at it
    search.to->dlfo_eh_frame = const_cast<void*>(frames);
    search.found = true;
    return 1;
}

}  // namespace

/// glibc 2.35. libgcc's unwinder asks it where the frames of an address are described.
extern "C" int _dl_find_object(void* address, dl_find_object* result) noexcept {
    Search search{reinterpret_cast<std::uintptr_t>(address), result, false};
    dl_iterate_phdr(look, &search);
    return search.found ? 0 : -1;
}
#endif
