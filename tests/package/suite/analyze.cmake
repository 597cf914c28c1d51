# SPDX-License-Identifier: Apache-2.0
# A compiled suite measures, and from its file alone the program tells the bounds of the model: cmake -D SUITE=... -D BENANZA=... -D MODEL=... -D
# RESULTS=... -P analyze.cmake
# What the environment says of OpenMP changes no detection. GNU's runtime would bind the suite to one processor.
foreach(variable --unset=OMP_PROC_BIND OMP_PROC_BIND=true)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ${variable} ${SUITE} --benanza_budget=1s --benchmark_filter=/hot/Pool/ --benchmark_out=${RESULTS}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${RESULTS} document)
  string(JSON affinity GET "${document}" context machine/affinity)
  list(APPEND affinities "${affinity}")
endforeach()
list(REMOVE_DUPLICATES affinities)
list(LENGTH affinities different)
if(different GREATER 1)
  message(FATAL_ERROR "OMP_PROC_BIND changes the processors: ${affinities}")
endif()

execute_process(COMMAND ${SUITE} --benanza_budget=1s --benchmark_filter=/Nothing/ OUTPUT_QUIET ERROR_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
if(NOT said MATCHES "no row: no plan matches --benchmark_filter")
  message(FATAL_ERROR "a filter that nothing matches: ${said}")
endif()

# A short time may leave layers without a row. Other processes make the bounds provisional, not partial.
foreach(budget 3s 6s 12s 24s)
  execute_process(COMMAND ${SUITE} --benanza_budget=${budget} --benchmark_out=${RESULTS} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${BENANZA} analyze ${MODEL} --results ${RESULTS} --json - OUTPUT_VARIABLE document COMMAND_ERROR_IS_FATAL ANY)
  string(JSON partial GET "${document}" models 0 partial)
  if(NOT partial)
    break()
  endif()
endforeach()
if(partial)
  message(FATAL_ERROR "the bounds are partial:\n${document}")
endif()
string(JSON type TYPE "${document}" models 0 bounds_ms library_fused)
if(NOT type STREQUAL "NUMBER")
  message(FATAL_ERROR "library_fused is ${type}, expected NUMBER:\n${document}")
endif()
