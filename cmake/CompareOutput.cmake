# SPDX-License-Identifier: Apache-2.0
#
#   cmake -D EXPECTED=file -P CompareOutput.cmake -- PROGRAM [ARGUMENT...]
#
# Runs a program and compares its standard output with a file. BENANZA_ACCEPT=1 in the environment writes the file anew instead.
set(command "")
set(begun FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(begun)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(begun TRUE)
  endif()
endforeach()

execute_process(COMMAND ${command} OUTPUT_VARIABLE output RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${command}: exit code ${result}\n${output}")
endif()
string(REGEX REPLACE "(^|\n)Randomness seeded to: [0-9]+\n" "\\1" output "${output}") # of Catch2 3
if("$ENV{BENANZA_ACCEPT}")
  file(WRITE "${EXPECTED}" "${output}")
endif()
file(READ "${EXPECTED}" expected)
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "expected, as in ${EXPECTED}:\n${expected}\nfound (BENANZA_ACCEPT=1 accepts it):\n${output}")
endif()
