# SPDX-License-Identifier: Apache-2.0
# The inner loops of engine/cpu/isa, compiled once per instruction set; engine/cpu/isa.cpp picks one at run time.
file(GLOB _isa_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/*.cpp")
function(tapescope_isa name)
    add_library(tapescope_engine_${name} OBJECT ${_isa_sources})
    target_include_directories(tapescope_engine_${name} PRIVATE "${CMAKE_SOURCE_DIR}")
    target_compile_definitions(tapescope_engine_${name} PRIVATE TAPESCOPE_ISA=${name})
    target_compile_options(tapescope_engine_${name} PRIVATE -fopenmp-simd ${ARGN})
    target_link_libraries(tapescope_engine_${name} PRIVATE tapescope_warnings)
    target_sources(tapescope_engine PRIVATE $<TARGET_OBJECTS:tapescope_engine_${name}>)
endfunction()

tapescope_isa(base)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    tapescope_isa(avx2 -mavx2 -mfma -mf16c)
    tapescope_isa(avx512 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mprefer-vector-width=512)
    target_compile_definitions(tapescope_engine PRIVATE TAPESCOPE_X86_ISAS=1)
else()
    target_compile_definitions(tapescope_engine PRIVATE TAPESCOPE_X86_ISAS=0)
endif()

# The same bits on every machine: no fused multiply-adds where the processor has them.
set_source_files_properties("${CMAKE_CURRENT_SOURCE_DIR}/cpu/portable_math.cpp" "${CMAKE_CURRENT_SOURCE_DIR}/cpu/fft_kernels.cpp"
                            "${CMAKE_CURRENT_LIST_DIR}/draws.cpp"
                            PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
