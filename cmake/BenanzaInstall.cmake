# SPDX-License-Identifier: Apache-2.0
# Install tree: headers, libraries, the program, and a package with one component for each target: find_package(benanza COMPONENTS analyzer).
# ONNX and oneDNN are installed along unless they are the system's, so that nothing outside the tree and the system's packages is needed.
# The parts of the tree are `runtime` (the program and what it loads) and `development`.

get_property(libraries GLOBAL PROPERTY BENANZA_LIBRARIES)
list(TRANSFORM libraries REPLACE "^benanza_" "" OUTPUT_VARIABLE BENANZA_COMPONENTS)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/benanza)
set(own_dir ${CMAKE_INSTALL_LIBDIR}/benanza) # of third parties, each with the folders of a prefix

# is_own(RESULT FOLDER): whether a third party lies outside the system's folders.
function(is_own result folder)
  set(${result} ON PARENT_SCOPE)
  foreach(system IN ITEMS /usr ${CMAKE_PLATFORM_IMPLICIT_LINK_DIRECTORIES})
    cmake_path(IS_PREFIX system "${folder}" NORMALIZE is_in)
    if(is_in)
      set(${result} OFF PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

set(linked OpenBLAS::OpenMP Hwloc::Hwloc Gomp::Gomp fmt::fmt simdjson::simdjson protobuf::libprotobuf ZLIB::ZLIB SQLite::SQLite3)

get_target_property(type ONNX::onnx TYPE)
is_own(own "${ONNX_DIR}")
if(type STREQUAL "STATIC_LIBRARY" AND own)
  install(FILES $<TARGET_FILE:ONNX::onnx> $<TARGET_FILE:ONNX::onnx_proto> DESTINATION ${own_dir}/onnx/lib COMPONENT development)
  install(DIRECTORY ${ONNX_DIR} DESTINATION ${own_dir}/onnx/lib/cmake COMPONENT development
    PATTERN ONNXTargets-sanitized.cmake EXCLUDE) # of the presets asan and fuzz
else()
  list(APPEND linked ONNX::onnx ONNX::onnx_proto)
endif()

set(run_path "")
if(onednn IN_LIST BENANZA_BACKENDS)
  is_own(own "${oneDNN_LIBRARY_FILE}")
  if(own)
    install(FILES ${oneDNN_LIBRARY_FILE} DESTINATION ${own_dir}/onednn/lib RENAME ${oneDNN_SONAME} COMPONENT runtime)
    install(DIRECTORY ${oneDNN_HEADERS}/oneapi DESTINATION ${own_dir}/onednn/include COMPONENT development)
    cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_FULL_BINDIR} OUTPUT_VARIABLE up)
    set(run_path "\$ORIGIN/${up}/benanza/onednn/lib")
  endif()
endif()

# Where the program finds its libraries: those of the system that are in no folder of the loader, and any others.
foreach(target IN LISTS linked)
  if(TARGET ${target})
    get_target_property(type ${target} TYPE)
    if(NOT type MATCHES "STATIC|INTERFACE")
      list(APPEND folders $<TARGET_FILE_DIR:${target}>)
    endif()
  endif()
endforeach()
list(JOIN CMAKE_PLATFORM_IMPLICIT_LINK_DIRECTORIES "|" searched)
list(APPEND run_path "$<FILTER:$<REMOVE_DUPLICATES:${folders}>,EXCLUDE,^(${searched}|/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})$>")
set_target_properties(benanza-tool PROPERTIES INSTALL_RPATH "${run_path}")
# CMake pads a shorter run path of the build with ':', which stands for the current folder. The loader must not search that folder.
set_target_properties(benanza-tool PROPERTIES BUILD_RPATH "${run_path}")

install(TARGETS benanza ${libraries} benanza_analyzer benanza-tool EXPORT benanzaTargets
  RUNTIME COMPONENT runtime ARCHIVE COMPONENT development LIBRARY COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/benanza DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.hpp")
install(EXPORT benanzaTargets NAMESPACE benanza:: DESTINATION ${package_dir} COMPONENT development)
install(FILES
  cmake/BenanzaSuite.cmake cmake/FindGomp.cmake cmake/FindHwloc.cmake cmake/FindOpenBLASOpenMP.cmake cmake/FindoneDNN.cmake
  DESTINATION ${package_dir} COMPONENT development)
# installed_text(FOLDER NAME ARGUMENT...): installs what the program prints with these arguments: completions of shells and its manual page.
function(installed_text folder name)
  set(file ${PROJECT_BINARY_DIR}/${folder}/${name})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
  add_custom_command(OUTPUT ${file} COMMAND benanza-tool ${ARGN} > ${file} DEPENDS benanza-tool COMMENT "Printing ${name}" VERBATIM)
  set_property(GLOBAL APPEND PROPERTY BENANZA_TEXTS ${file})
  install(FILES ${file} DESTINATION ${folder} COMPONENT runtime)
endfunction()
if(NOT CMAKE_CROSSCOMPILING)
  installed_text(${CMAKE_INSTALL_DATADIR}/bash-completion/completions benanza completion bash)
  installed_text(${CMAKE_INSTALL_DATADIR}/zsh/site-functions _benanza completion zsh)
  installed_text(${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d benanza.fish completion fish)
  installed_text(${CMAKE_INSTALL_MANDIR}/man1 benanza.1 man)
  get_property(texts GLOBAL PROPERTY BENANZA_TEXTS)
  add_custom_target(benanza-texts ALL DEPENDS ${texts})
endif()

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

configure_package_config_file(cmake/benanzaConfig.cmake.in ${PROJECT_BINARY_DIR}/benanzaConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS own_dir)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/benanzaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/benanzaConfig.cmake ${PROJECT_BINARY_DIR}/benanzaConfigVersion.cmake DESTINATION ${package_dir}
  COMPONENT development)
