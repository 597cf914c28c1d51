# SPDX-License-Identifier: Apache-2.0
# A compiled suite measures, and from its file alone the program tells the bounds of the model: cmake -D SUITE=... -D BENANZA=... -D MODEL=... -D
# RESULTS=... -P analyze.cmake
execute_process(COMMAND ${SUITE} --benanza_budget=3s --benchmark_out=${RESULTS} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${BENANZA} analyze ${MODEL} --results ${RESULTS} --require-complete --json -
  OUTPUT_VARIABLE document COMMAND_ERROR_IS_FATAL ANY)
string(JSON type TYPE "${document}" models 0 bounds_ms library_fused)
if(NOT type STREQUAL "NUMBER")
  message(FATAL_ERROR "library_fused is ${type}, expected NUMBER:\n${document}")
endif()
