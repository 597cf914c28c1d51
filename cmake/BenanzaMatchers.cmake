# SPDX-License-Identifier: Apache-2.0
# The matchers of latency assertions, headers only: benanza::catch2 and benanza::gtest. Who links one has the test
# framework already. If it is found here, it is linked too.
foreach(framework IN ITEMS catch2:Catch2::Catch2 gtest:GTest::gmock)
  string(REGEX MATCH "^([a-z0-9]+):(.+)$" matched ${framework})
  set(name ${CMAKE_MATCH_1})
  add_library(benanza_${name} INTERFACE)
  add_library(benanza::${name} ALIAS benanza_${name})
  set_target_properties(benanza_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(benanza_${name} INTERFACE benanza $<TARGET_NAME_IF_EXISTS:${CMAKE_MATCH_2}>)
  set_property(GLOBAL APPEND PROPERTY BENANZA_LIBRARIES benanza_${name})
endforeach()
