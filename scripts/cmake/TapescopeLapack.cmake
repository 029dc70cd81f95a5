# SPDX-License-Identifier: Apache-2.0
# The target TapescopeLapack: LAPACK for the engine's decompositions. Debian's reference build is linked statically, by
# its own path: the alternatives system may point liblapack.so at OpenBLAS with threads of its own beside the engine's.
add_library(TapescopeLapack INTERFACE)
find_library(TAPESCOPE_LAPACK_ARCHIVE liblapack.a NO_CACHE
             PATHS "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/lapack" NO_DEFAULT_PATH)
find_library(TAPESCOPE_BLAS_ARCHIVE libblas.a NO_CACHE
             PATHS "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/blas" NO_DEFAULT_PATH)
# The run-time part of the Fortran compiler; its development package is not needed.
find_library(TAPESCOPE_FORTRAN_RUNTIME NAMES libgfortran.so.5 gfortran NO_CACHE)
if(TAPESCOPE_LAPACK_ARCHIVE AND TAPESCOPE_BLAS_ARCHIVE AND TAPESCOPE_FORTRAN_RUNTIME)
    target_link_libraries(TapescopeLapack INTERFACE "${TAPESCOPE_LAPACK_ARCHIVE}" "${TAPESCOPE_BLAS_ARCHIVE}"
                          "${TAPESCOPE_FORTRAN_RUNTIME}")
else()
    find_package(LAPACK QUIET)
    if(NOT LAPACK_FOUND)
        message(FATAL_ERROR "LAPACK was not found: install liblapack-dev (apt-get install liblapack-dev)")
    endif()
    target_link_libraries(TapescopeLapack INTERFACE LAPACK::LAPACK)
endif()
