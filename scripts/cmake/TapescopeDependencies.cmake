# SPDX-License-Identifier: Apache-2.0
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(ZLIB REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
# Debian's oneDNN config file insists on OpenCL, which only its GPU headers need: find the library itself.
find_path(DNNL_INCLUDE_DIR dnnl.hpp REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
add_library(DNNL::dnnl UNKNOWN IMPORTED)
set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION "${DNNL_LIBRARY}"
                      INTERFACE_INCLUDE_DIRECTORIES "${DNNL_INCLUDE_DIR}")
find_package(nlohmann_json 3.9 CONFIG REQUIRED)

set(TAPESCOPE_HAVE_GUI OFF)
if(NOT TAPESCOPE_GUI STREQUAL "OFF")
    set(_gui_required "")
    if(TAPESCOPE_GUI STREQUAL "ON")
        set(_gui_required REQUIRED)
    endif()
    # Qt before QCustomPlot: its config file names Qt targets without looking for them.
    find_package(Qt6 6.4 ${_gui_required} QUIET COMPONENTS Core Gui Widgets PrintSupport Svg
                 Concurrent Network Test)
    if(Qt6_FOUND)
        find_package(QCustomPlotQt6 CONFIG ${_gui_required} QUIET)
    endif()
    if(Qt6_FOUND AND QCustomPlotQt6_FOUND)
        set(TAPESCOPE_HAVE_GUI ON)
    else()
        message(STATUS "Qt 6 or QCustomPlot not found: the workbench is left out "
                       "(apt-get install qt6-base-dev libqt6svg6-dev libqcustomplot-dev)")
    endif()
endif()

set(TAPESCOPE_CUDA_VERSION "")
if(NOT TAPESCOPE_CUDA STREQUAL "OFF")
    find_package(CUDAToolkit QUIET)
    if(CUDAToolkit_FOUND)
        set(TAPESCOPE_CUDA_VERSION "${CUDAToolkit_VERSION}")
    elseif(TAPESCOPE_CUDA STREQUAL "ON")
        message(FATAL_ERROR "TAPESCOPE_CUDA=ON, but no CUDA toolkit was found: install one and put "
                            "nvcc on PATH, or configure with -DTAPESCOPE_CUDA=OFF")
    endif()
endif()

if(TAPESCOPE_TESTS)
    find_package(GTest REQUIRED)
    include(GoogleTest)
endif()
if(TAPESCOPE_BENCH)
    find_package(benchmark QUIET)
endif()
