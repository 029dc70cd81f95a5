# SPDX-License-Identifier: Apache-2.0
# What a model pack is built against: headers and find_package(tapescope). Alone: cmake --install BUILD --component dev
include(CMakePackageConfigHelpers)
set(_sdk "${CMAKE_INSTALL_LIBDIR}/cmake/tapescope")
install(DIRECTORY "${CMAKE_SOURCE_DIR}/engine" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tapescope" COMPONENT dev
        FILES_MATCHING PATTERN "*.h" PATTERN "third_party" EXCLUDE)
install(DIRECTORY "${CMAKE_SOURCE_DIR}/plugins/api" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tapescope/plugins"
        COMPONENT dev FILES_MATCHING PATTERN "*.h")
configure_package_config_file("${CMAKE_SOURCE_DIR}/scripts/cmake/tapescope-config.cmake.in"
                              "${CMAKE_BINARY_DIR}/tapescope-config.cmake" INSTALL_DESTINATION "${_sdk}"
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/tapescope-config-version.cmake" COMPATIBILITY ExactVersion)
install(FILES "${CMAKE_BINARY_DIR}/tapescope-config.cmake" "${CMAKE_BINARY_DIR}/tapescope-config-version.cmake"
        DESTINATION "${_sdk}" COMPONENT dev)
