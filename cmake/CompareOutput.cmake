# SPDX-License-Identifier: Apache-2.0
#
#   cmake -D PROGRAM=... -D EXPECTED=... -P CompareOutput.cmake
#
# Runs a program and compares its standard output with a file. BENANZA_ACCEPT=1 in the environment writes the file anew instead.
execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE output RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM}: exit code ${result}\n${output}")
endif()
string(REGEX REPLACE "(^|\n)Randomness seeded to: [0-9]+\n" "\\1" output "${output}") # of Catch2 3
if("$ENV{BENANZA_ACCEPT}")
  file(WRITE "${EXPECTED}" "${output}")
endif()
file(READ "${EXPECTED}" expected)
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "expected, as in ${EXPECTED}:\n${expected}\nfound:\n${output}")
endif()
