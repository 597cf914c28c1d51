# SPDX-License-Identifier: Apache-2.0
# How Benanza's own targets are made; everything by target, nothing global.

# benanza_library(NAME [UNITY]): target benanza_NAME with alias benanza::NAME; sources are added by the caller. UNITY: benanza_unity.
function(benanza_library name)
  add_library(benanza_${name})
  if("UNITY" IN_LIST ARGN)
    benanza_unity(benanza_${name})
  endif()
  add_library(benanza::${name} ALIAS benanza_${name})
  set_target_properties(benanza_${name} PROPERTIES EXPORT_NAME ${name} OUTPUT_NAME benanza_${name} POSITION_INDEPENDENT_CODE ON)
  if(name STREQUAL "model")
    target_link_libraries(benanza_model PUBLIC benanza)
  else()
    target_link_libraries(benanza_${name} PUBLIC benanza_model)
  endif()
  target_include_directories(benanza_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src) # "ROOM/..." of lower rooms
  benanza_warnings(benanza_${name})
  set_property(GLOBAL APPEND PROPERTY BENANZA_LIBRARIES benanza_${name})
endfunction()

# benanza_unity(TARGET): its files give different names to different things, also within anonymous namespaces, so that BENANZA_UNITY may
# compile several at once: sixteen, which takes less time than eight, as each source is mostly headers.
function(benanza_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${BENANZA_UNITY} UNITY_BUILD_BATCH_SIZE 16)
  if(BENANZA_UNITY) # GCC takes the files for headers, in which a member of an anonymous namespace would be a mistake
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

function(benanza_warnings target)
  # GCC 12 sees overlapping copies in std::string that are not there (GCC bug 105651). What it finds by following values through inlined
  # code of the standard library is often as wrong, so it stays a warning; clang's warnings all are.
  set(warnings -Wall -Wextra -Wconversion $<$<BOOL:${BENANZA_WERROR}>:-Werror>
      "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-error=maybe-uninitialized;-Wno-error=array-bounds>")
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>"
    "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${BENANZA_WERROR}>>:-Werror=all-warnings>")
endfunction()

# benanza_light(TARGET): what it computes takes milliseconds, so that compiling it is what costs: by -Og half of what it takes by -O2, and
# less than by -O0, which writes more instructions.
function(benanza_light target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
endfunction()

# benanza_embed(TARGET HEADER NAMESPACE NAME=FILE[,FILE...]...): text files as strings of the target (EmbedFiles.cmake). HEADER, beside
# the caller, declares them.
function(benanza_embed target header namespace)
  string(REGEX REPLACE "[a-z_]+=" "" files "${ARGN}")
  string(REPLACE "," ";" files "${files}")
  get_filename_component(stem ${header} NAME_WE)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${stem}.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${source} -D HEADER=${header} -D NAMESPACE=${namespace} -P ${script} -- ${ARGN}
    DEPENDS ${files} ${script}
    COMMENT "Embedding files in ${target}"
    VERBATIM)
  target_sources(${target} PRIVATE ${source})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
endfunction()

# benanza_find_backend(OPTION PACKAGE): honours BENANZA_<OPTION> = AUTO, ON (fails loudly) or OFF.
macro(benanza_find_backend option package)
  string(TOLOWER ${option} benanza_backend_name)
  if("${BENANZA_${option}}" STREQUAL "OFF")
    set(BENANZA_${option}_SUMMARY "off (BENANZA_${option}=OFF)")
  else()
    find_package(${package} QUIET)
    if(${package}_FOUND)
      list(APPEND BENANZA_FOUND_BACKENDS ${benanza_backend_name})
      set(BENANZA_${option}_SUMMARY "${${package}_VERSION}")
    else()
      set(BENANZA_${option}_SUMMARY "not found ${${package}_NOT_FOUND_MESSAGE}")
      if("${BENANZA_${option}}" STREQUAL "ON")
        message(FATAL_ERROR "BENANZA_${option}=ON, but ${package} was ${BENANZA_${option}_SUMMARY}")
      endif()
    endif()
  endif()
endmacro()

# benanza_optional_backend(OPTION NEEDS [DEVICE] [COLLECTIVES]): the backend of BENANZA_<OPTION> may be left out. If it is left out, the program says
# in a few words what it needs: a line of BENANZA_ABSENT_BACKENDS, from which absent_backends() is made. DEVICE: it runs on an accelerator.
# COLLECTIVES: it runs nothing else.
function(benanza_optional_backend option needs)
  string(TOLOWER ${option} backend)
  if(backend IN_LIST BENANZA_BACKENDS)
    return()
  endif()
  if("${BENANZA_${option}}" STREQUAL "OFF")
    set(needs "BENANZA_${option}=ON")
  elseif("DEVICE" IN_LIST ARGN AND "${BENANZA_CUDA}" STREQUAL "OFF")
    set(needs "BENANZA_CUDA=ON")
  endif()
  foreach(flag IN ITEMS DEVICE COLLECTIVES)
    set(is_${flag} false)
    if(flag IN_LIST ARGN)
      set(is_${flag} true)
    endif()
  endforeach()
  string(APPEND BENANZA_ABSENT_BACKENDS
    "      {.name = \"${backend}\", .needs = \"${needs}\", .on_device = ${is_DEVICE}, .collectives = ${is_COLLECTIVES}},\n")
  set(BENANZA_ABSENT_BACKENDS "${BENANZA_ABSENT_BACKENDS}" PARENT_SCOPE)
endfunction()

function(benanza_summary)
  if(NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  message(STATUS "Benanza ${PROJECT_VERSION}")
  message(STATUS "  backends   ${BENANZA_BACKENDS}")
  message(STATUS "  oneDNN     ${BENANZA_ONEDNN_SUMMARY}")
  message(STATUS "  OpenBLAS   ${BENANZA_OPENBLAS_SUMMARY}")
  message(STATUS "  MPI        ${BENANZA_MPI_SUMMARY}")
  message(STATUS "  CUDA       ${BENANZA_CUDA_SUMMARY}")
  message(STATUS "  cuDNN      ${BENANZA_CUDNN_SUMMARY}")
  message(STATUS "  cuBLAS     ${BENANZA_CUBLAS_SUMMARY}")
  message(STATUS "  NCCL       ${BENANZA_NCCL_SUMMARY}")
  message(STATUS "  tests ${BENANZA_BUILD_TESTS}, examples ${BENANZA_BUILD_EXAMPLES}, benchmarks ${BENANZA_BUILD_BENCHMARKS}, install ${BENANZA_INSTALL}")
endfunction()
