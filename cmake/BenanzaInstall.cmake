# SPDX-License-Identifier: Apache-2.0
# Install tree: headers, libraries, the program, and a package with one component for each target: find_package(benanza COMPONENTS analyzer).

get_property(libraries GLOBAL PROPERTY BENANZA_LIBRARIES)
list(TRANSFORM libraries REPLACE "^benanza_" "" OUTPUT_VARIABLE BENANZA_COMPONENTS)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/benanza)

# The libraries that the program was linked with may lie outside the system's folders.
set_target_properties(benanza-tool PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS benanza ${libraries} benanza_analysis benanza_analyzer benanza-tool EXPORT benanzaTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/benanza DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(EXPORT benanzaTargets NAMESPACE benanza:: DESTINATION ${package_dir})
install(FILES
  cmake/BenanzaSuite.cmake cmake/FindGomp.cmake cmake/FindHwloc.cmake cmake/FindOpenBLASOpenMP.cmake cmake/FindoneDNN.cmake
  DESTINATION ${package_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(cmake/benanzaConfig.cmake.in ${PROJECT_BINARY_DIR}/benanzaConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/benanzaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/benanzaConfig.cmake ${PROJECT_BINARY_DIR}/benanzaConfigVersion.cmake DESTINATION ${package_dir})
