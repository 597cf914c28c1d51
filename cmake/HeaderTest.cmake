# SPDX-License-Identifier: Apache-2.0
# benanza_header_test(): a source for each public header that includes nothing else, twice (#pragma once), compiled only. Headers that
# declare functions of compiled libraries define them here; other headers include the declarations (benanza/detail/compiled.hpp).
function(benanza_header_test target folder)
  file(GLOB_RECURSE headers RELATIVE "${folder}" CONFIGURE_DEPENDS "${folder}/*.hpp") # the one glob: a header forgotten here would go untested
  if(NOT TARGET GTest::gmock)
    list(FILTER headers EXCLUDE REGEX "/gtest\\.hpp$")
  endif()
  set(sources "")
  foreach(header IN LISTS headers)
    string(MAKE_C_IDENTIFIER "${header}" name)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp")
    set(BENANZA_HEADER "${header}")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include <@BENANZA_HEADER@>\n#include <@BENANZA_HEADER@>\n" @ONLY)
    list(APPEND sources "${source}")
    file(STRINGS "${folder}/${header}" has_definitions REGEX "BENANZA_COMPILED" LIMIT_COUNT 1)
    if(NOT has_definitions)
      set_source_files_properties("${source}" PROPERTIES COMPILE_DEFINITIONS BENANZA_COMPILED)
    endif()
  endforeach()
  add_library(${target} OBJECT ${sources})
  target_compile_options(${target} PRIVATE -O0 -g0)
  benanza_warnings(${target})
endfunction()
