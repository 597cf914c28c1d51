# SPDX-License-Identifier: Apache-2.0
# Installs BUILD and moves the tree to PREFIX: cmake -D BUILD=... -D CONFIG=... -D PREFIX=... -P install_and_move.cmake
set(installed ${PREFIX}_installed)
file(REMOVE_RECURSE ${installed} ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${installed} --config ${CONFIG} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${installed} ${PREFIX})
