# `cmake --install` puts below its prefix a tree that needs neither this repository nor the build any more:
# the command, the library and its headers, CMake's package files, decks, scripts and licences, and the Kokkos of
# ci/kokkos-debian if the build used it.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
set(kokkos ${CMAKE_INSTALL_LIBDIR}/heddle/kokkos)

# The library and the command find the libraries installed beside them, and others in the folders they were linked from.
set(library_rpath "")
if(HEDDLE_PYTHON)
  list(APPEND library_rpath "$ORIGIN") # The package of Python has the Kokkos beside it.
endif()
set(command_rpath "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
get_filename_component(kokkos_prefix ${Kokkos_DIR}/../../../.. ABSOLUTE)
if(EXISTS ${kokkos_prefix}/made-by-heddle)
  set(kokkos_place ${kokkos})
  get_filename_component(kokkos_libraries ${Kokkos_DIR}/../.. ABSOLUTE)
  file(RELATIVE_PATH kokkos_libraries ${kokkos_prefix} ${kokkos_libraries})
  list(APPEND library_rpath "$ORIGIN/heddle/kokkos/${kokkos_libraries}")
  list(APPEND command_rpath "$ORIGIN/../${kokkos}/${kokkos_libraries}")
  install(DIRECTORY ${kokkos_prefix}/ DESTINATION ${kokkos} USE_SOURCE_PERMISSIONS)
else()
  set(kokkos_place ${Kokkos_DIR})
endif()
if(SKBUILD)
  # In the package of Python libheddle_blas.so is in heddle/_command, and the command in bin below that.
  list(APPEND library_rpath "$ORIGIN/..")
  list(APPEND command_rpath "$ORIGIN/../..")
endif()
set_target_properties(heddle PROPERTIES INSTALL_RPATH "${library_rpath}" INSTALL_RPATH_USE_LINK_PATH ON)
if(TARGET heddle_blas)
  set_target_properties(heddle_blas PROPERTIES INSTALL_RPATH "${library_rpath}" INSTALL_RPATH_USE_LINK_PATH ON)
endif()
set_target_properties(heddle_command PROPERTIES INSTALL_RPATH "${command_rpath}" INSTALL_RPATH_USE_LINK_PATH ON)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/HeddleConfig.cmake.in ${PROJECT_BINARY_DIR}/heddleConfig.cmake
                              INSTALL_DESTINATION ${package} PATH_VARS kokkos_place)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heddleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(TARGETS heddle EXPORT heddle_targets)
install(TARGETS heddle_command)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT heddle_targets NAMESPACE heddle:: FILE heddleTargets.cmake DESTINATION ${package})
install(FILES ${PROJECT_BINARY_DIR}/heddleConfig.cmake ${PROJECT_BINARY_DIR}/heddleConfigVersion.cmake
        DESTINATION ${package})
install(DIRECTORY drivers/decks drivers/manifest drivers/plot DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle
        FILES_MATCHING PATTERN "*.toml" PATTERN "*.py" PATTERN "*_expected.txt" PATTERN "__pycache__" EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CITATION.cff ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(CMAKE_SOURCE_DIR STREQUAL PROJECT_SOURCE_DIR)
  add_custom_target(uninstall COMMENT "Removing what the last `cmake --install` of this folder wrote" VERBATIM
    COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
            -P ${CMAKE_CURRENT_LIST_DIR}/Uninstall.cmake)
endif()
