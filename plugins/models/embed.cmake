# SPDX-License-Identifier: Apache-2.0
# cmake -DROOT=… -DFILES="a;b" -DOUTPUT=x.cpp -P embed.cmake: writes the bytes of ROOT/a, ROOT/b … as C++ arrays.
set(_arrays "")
set(_table "")
set(_index 0)
foreach(_file IN LISTS FILES)
    file(READ "${ROOT}/${_file}" _hex HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" _hex "${_hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," _bytes "${_hex}")
    string(APPEND _arrays "constexpr unsigned char kFile${_index}[] = {\n${_bytes}};\n")
    string(APPEND _table "    {\"${_file}\", {reinterpret_cast<const char*>(kFile${_index}), sizeof kFile${_index}}},\n")
    math(EXPR _index "${_index} + 1")
endforeach()
file(WRITE "${OUTPUT}" "// Written by plugins/models/embed.cmake.
#include \"plugins/models/embedded.h\"

namespace tapescope::plugins {
namespace {
${_arrays}
const EmbeddedFile kFiles[] = {
${_table}};
}  // namespace

std::span<const EmbeddedFile> embeddedFiles() { return kFiles; }

}  // namespace tapescope::plugins
")
