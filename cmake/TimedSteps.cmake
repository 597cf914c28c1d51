# SPDX-License-Identifier: Apache-2.0
# Every step of a build that scripts/lib.bash configures adds a line to build/steps.tsv (scripts/timed).
set(timed "${CMAKE_SOURCE_DIR}/scripts/timed ${CMAKE_SOURCE_DIR}/build/steps.tsv")
set_property(GLOBAL PROPERTY RULE_LAUNCH_COMPILE "${timed} <OBJECT>")
set_property(GLOBAL PROPERTY RULE_LAUNCH_LINK "${timed} <TARGET>")
set_property(GLOBAL PROPERTY RULE_LAUNCH_CUSTOM "${timed} <OUTPUT>")
