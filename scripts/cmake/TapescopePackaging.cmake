# SPDX-License-Identifier: Apache-2.0
# Installed files beside the programs, and a Debian package: cpack --config build/release/CPackConfig.cmake
set(_id io.github.tapescope.Tapescope)
set(_files "${CMAKE_SOURCE_DIR}/resources/packaging")
if(TAPESCOPE_HAVE_GUI)
    install(FILES "${_files}/${_id}.desktop" DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
    install(FILES "${_files}/${_id}.metainfo.xml" DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
    install(FILES "${_files}/${_id}.mime.xml" DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages RENAME ${_id}.xml)
    install(FILES "${_files}/${_id}.svg" DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
endif()
install(FILES "${_files}/copyright" DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES "${CMAKE_SOURCE_DIR}/README.md" DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tapescope)
set(CPACK_PACKAGE_CONTACT "The Tapescope developers <tapescope@users.noreply.github.com>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Workbench with its own tensor and autograd engine: breakpoints on the dynamic graph,
training curves, histograms and an operator timeline, recorded to one SQLite file a run.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
find_program(_shlibdeps dpkg-shlibdeps)  # of dpkg-dev; cpack fails without it
if(_shlibdeps)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
if(TAPESCOPE_HAVE_GUI)
    set(CPACK_DEBIAN_PACKAGE_DEPENDS "libqt6svg6")  # a plugin loaded at run time: shlibdeps cannot see it
    set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-inter, fonts-jetbrains-mono, qt6-wayland")
endif()
include(CPack)
