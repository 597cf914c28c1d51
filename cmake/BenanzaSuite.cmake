# SPDX-License-Identifier: Apache-2.0
#
# A suite of benchmarks from models, generated and compiled as part of a build:
#
#   benanza_add_suite(TARGET bench_mine MODELS resnet50.onnx bert.onnx [NAME mine] [BACKENDS onednn native] [BATCH 8]
#                     [EXCLUDE_FROM_ALL])
#
# Models are files, or folders of files, relative to the current source folder. The program `bench_mine` measures their unique layers and understands every
# Google Benchmark flag; a test `bench_mine.lists` runs it with --benchmark_list_tests. NAME defaults to the target's name, BACKENDS to
# every one of the processor that this Benanza has, BATCH to the models' own. A suite stops at once on a machine that lacks one of its backends. With EXCLUDE_FROM_ALL it is built when asked for, and has no test. Works inside Benanza's build, behind add_subdirectory, and behind
# find_package(benanza).

include_guard(GLOBAL)

function(benanza_add_suite)
  cmake_parse_arguments(PARSE_ARGV 0 suite "EXCLUDE_FROM_ALL" "TARGET;NAME;BATCH" "MODELS;BACKENDS")
  if(suite_UNPARSED_ARGUMENTS OR suite_KEYWORDS_MISSING_VALUES OR NOT suite_TARGET OR NOT suite_MODELS)
    message(FATAL_ERROR "benanza_add_suite: expected TARGET <name> MODELS <file>... [NAME <name>] [BACKENDS <name>...] [BATCH <n>] [EXCLUDE_FROM_ALL]")
  endif()
  if(NOT suite_NAME)
    set(suite_NAME ${suite_TARGET})
  endif()
  if(NOT suite_BACKENDS)
    get_property(suite_BACKENDS GLOBAL PROPERTY BENANZA_BACKENDS)
    list(REMOVE_ITEM suite_BACKENDS cudnn cublas cuda mpi nccl) # no model has a collective
  endif()
  if(TARGET benanza::tool)
    set(tool benanza::tool)
  elseif(TARGET benanza-tool)
    set(tool benanza-tool)
  else()
    message(FATAL_ERROR "benanza_add_suite: this Benanza was built without its program, which generates suites")
  endif()

  set(files "")
  foreach(model IN LISTS suite_MODELS)
    cmake_path(ABSOLUTE_PATH model BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE file)
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "benanza_add_suite: no model '${model}' in ${CMAKE_CURRENT_SOURCE_DIR}")
    endif()
    list(APPEND files "${file}")
  endforeach()
  set(libraries benanza::bench)
  foreach(backend IN LISTS suite_BACKENDS)
    if(NOT TARGET benanza::${backend})
      message(FATAL_ERROR "benanza_add_suite: this Benanza has no backend '${backend}'")
    endif()
    list(APPEND libraries benanza::${backend})
  endforeach()

  list(JOIN suite_BACKENDS "," backends)
  set(options --name ${suite_NAME} --backend ${backends})
  if(suite_BATCH)
    list(APPEND options --batch ${suite_BATCH})
  endif()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${suite_TARGET}.cpp")
  add_custom_command(
    OUTPUT "${source}"
    COMMAND ${tool} generate ${suite_MODELS} ${options} --output "${source}"
    DEPENDS ${files} ${tool}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    COMMENT "Generating the suite ${suite_TARGET}"
    VERBATIM)

  add_executable(${suite_TARGET} "${source}")
  target_link_libraries(${suite_TARGET} PRIVATE ${libraries})
  target_compile_features(${suite_TARGET} PRIVATE cxx_std_20)
  if(suite_EXCLUDE_FROM_ALL)
    set_target_properties(${suite_TARGET} PROPERTIES EXCLUDE_FROM_ALL ON)
  else()
    add_test(NAME ${suite_TARGET}.lists COMMAND ${suite_TARGET} --benchmark_list_tests)
  endif()
endfunction()
