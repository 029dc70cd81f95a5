# SPDX-License-Identifier: Apache-2.0
# Compiler settings shared by every target; warnings live on one interface target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release)
endif()

find_program(TAPESCOPE_CCACHE ccache)
if(TAPESCOPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${TAPESCOPE_CCACHE}")
endif()

add_library(tapescope_warnings INTERFACE)
target_compile_options(tapescope_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
    -Wno-restrict)  # GCC 12 reports a false -Wrestrict on "text" + std::to_string(n) at -O3

# Sites and messages name files relative to the source tree, never this machine's path.
# (Relative to the build folder is how ccache's base_dir names them.)
file(RELATIVE_PATH _tapescope_up "${CMAKE_BINARY_DIR}" "${CMAKE_SOURCE_DIR}/.")
string(REGEX REPLACE "/+$" "" _tapescope_up "${_tapescope_up}")
add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=" "-ffile-prefix-map=${_tapescope_up}/=")
# NaN-exact arithmetic, but no errno and no trap semantics: sqrt and friends stay one instruction.
add_compile_options(-fno-math-errno -fno-trapping-math)

if(TAPESCOPE_SANITIZE)
    add_compile_options("-fsanitize=${TAPESCOPE_SANITIZE}" -fno-omit-frame-pointer
                        -fno-sanitize-recover=all)
    add_link_options("-fsanitize=${TAPESCOPE_SANITIZE}")
endif()
