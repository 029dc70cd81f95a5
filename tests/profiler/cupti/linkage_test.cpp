// SPDX-License-Identifier: Apache-2.0
// What the injection library asks of the systems it goes to.
#include "tests/profiler/cupti/process_support.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <set>

namespace tapescope::profiler::cupti {
namespace {

/// The dynamic section of a shared object, read from the file.
struct Dynamic {
    std::set<std::string> needed;
    std::set<std::string> versions;  ///< "GLIBC_2.34"
    std::set<std::string> exported;

    explicit Dynamic(const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        m_file.assign(std::istreambuf_iterator<char>(in), {});
        const auto header = at<Elf64_Ehdr>(0);
        EXPECT_EQ(std::memcmp(header.e_ident, ELFMAG, SELFMAG), 0);
        for (int i = 0; i < header.e_shnum; ++i) {
            const auto section =
                at<Elf64_Shdr>(header.e_shoff + static_cast<std::size_t>(i) * header.e_shentsize);
            const auto strings =
                at<Elf64_Shdr>(header.e_shoff + section.sh_link * header.e_shentsize).sh_offset;
            if (section.sh_type == SHT_DYNAMIC) readNeeded(section, strings);
            if (section.sh_type == SHT_GNU_verneed) readVersions(section, strings);
            if (section.sh_type == SHT_DYNSYM) readSymbols(section, strings);
        }
    }

private:
    template <class T>
    T at(std::size_t offset) const {
        T value{};
        EXPECT_LE(offset + sizeof value, m_file.size());
        std::memcpy(&value, m_file.data() + offset, sizeof value);
        return value;
    }
    std::string text(std::size_t offset) const { return m_file.c_str() + offset; }
    void readNeeded(const Elf64_Shdr& s, std::size_t strings) {
        for (std::size_t o = 0; o < s.sh_size; o += sizeof(Elf64_Dyn)) {
            const auto d = at<Elf64_Dyn>(s.sh_offset + o);
            if (d.d_tag == DT_NEEDED) needed.insert(text(strings + d.d_un.d_val));
        }
    }
    void readVersions(const Elf64_Shdr& s, std::size_t strings) {
        std::size_t o = s.sh_offset;
        for (std::size_t i = 0; i < s.sh_info; ++i) {
            const auto need = at<Elf64_Verneed>(o);
            std::size_t a = o + need.vn_aux;
            for (int k = 0; k < need.vn_cnt; ++k) {
                const auto aux = at<Elf64_Vernaux>(a);
                versions.insert(text(strings + aux.vna_name));
                a += aux.vna_next;
            }
            o += need.vn_next;
        }
    }
    void readSymbols(const Elf64_Shdr& s, std::size_t strings) {
        for (std::size_t o = 0; o < s.sh_size; o += sizeof(Elf64_Sym)) {
            const auto symbol = at<Elf64_Sym>(s.sh_offset + o);
            if (symbol.st_shndx != SHN_UNDEF) exported.insert(text(strings + symbol.st_name));
        }
    }
    std::string m_file;
};

int minorOf(const std::string& version) {  // of "GLIBC_2.34"
    const std::string prefix = "GLIBC_2.";
    return version.rfind(prefix, 0) == 0 ? std::atoi(version.c_str() + prefix.size()) : 0;
}

class InjectionLibrary : public testing::Test {
protected:
    void SetUp() override {
        if (!std::string(TAPESCOPE_INJECT_STATUS).empty())
            GTEST_SKIP() << "built with shared libraries: " << TAPESCOPE_INJECT_STATUS;
    }
};

TEST_F(InjectionLibrary, NeedsNothingButTheCLibrary) {
    for (const std::string& name : Dynamic(kInjection).needed) {
        const bool ofTheCLibrary = std::ranges::any_of(
            std::array{"libc.so.", "libm.so.", "libdl.so.", "libpthread.so.", "ld-linux"},
            [&](const char* prefix) { return name.rfind(prefix, 0) == 0; });
        EXPECT_TRUE(ofTheCLibrary) << name;
    }
}
TEST_F(InjectionLibrary, RunsOnGlibcFrom234On) {
    int newest = 0;
    for (const std::string& version : Dynamic(kInjection).versions)
        newest = std::max(newest, minorOf(version));
    std::printf("the injection library needs glibc 2.%d\n", newest);
    RecordProperty("glibc_minor", newest);
    // Debian 12, Ubuntu 22.04, RHEL 9 and later. Threads live in libc itself since 2.34, so what is
    // built there cannot need less.
    EXPECT_LE(newest, 34);
    EXPECT_GT(newest, 0);
}
TEST_F(InjectionLibrary, ShowsTwoFunctionsOnly) {
    EXPECT_EQ(Dynamic(kInjection).exported,
              (std::set<std::string>{"InitializeInjection", "InitializeInjectionNvtx2"}));
}
TEST_F(InjectionLibrary, ExceptionsAndRandomNumbersWorkOnOldSystems) {
    void* library = dlopen(fakeFile("libfake_throwing.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    EXPECT_EQ(reinterpret_cast<int (*)()>(dlsym(library, "throwAndCatch"))(), 1);
    EXPECT_EQ(reinterpret_cast<int (*)()>(dlsym(library, "randomNumbersDiffer"))(), 1);
    for (const std::string& version : Dynamic(fakeFile("libfake_throwing.so")).versions)
        EXPECT_LE(minorOf(version), 34) << version;
}

}  // namespace
}  // namespace tapescope::profiler::cupti
