# SPDX-License-Identifier: Apache-2.0
# Debian packages of the parts of the install tree, by CPack: benanza, the program and what it loads, and libbenanza-dev, the library.
# What the program loads from the system is found by dpkg-shlibdeps; what the library is linked with stands here.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME benanza)
set(CPACK_PACKAGE_VENDOR "The Benanza authors")
set(CPACK_PACKAGE_CONTACT "The Benanza authors")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME benanza)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION science)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "${PROJECT_DESCRIPTION}
 The program measures the layers of an ONNX model with several libraries and prints the lower bounds of its latency.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
if(openblas IN_LIST BENANZA_BACKENDS) # the name of the file alone would let a build with other threads serve
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS libopenblas0-openmp)
endif()

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libbenanza-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS runtime)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "C++ library that computes lower bounds on the latency of deep-learning models
 Headers, static libraries and the CMake package benanza.")
set(linked libprotobuf-dev libsimdjson-dev nlohmann-json3-dev zlib1g-dev libfmt-dev libbenchmark-dev libhwloc-dev libsqlite3-dev)
if(openblas IN_LIST BENANZA_BACKENDS)
  list(APPEND linked libopenblas-openmp-dev)
endif()
if(mpi IN_LIST BENANZA_BACKENDS)
  list(APPEND linked libopenmpi-dev)
endif()
list(JOIN linked ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)

include(CPack)
