# SPDX-License-Identifier: Apache-2.0
#
# Finds the build of OpenBLAS that runs on OpenMP's threads. Debian has three builds under one name, and the plain -lopenblas is
# whichever the machine's alternatives select; the one on threads of its own would keep them spinning beside oneDNN's. So
# the folder is named, and nothing is taken that does not say OpenMP.
#
#   OpenBLAS::OpenMP                the library
#   OpenBLASOpenMP_FOUND            whether there is one
#   OpenBLASOpenMP_VERSION          its version
#   OpenBLASOpenMP_NOT_FOUND_MESSAGE  why there is none

set(OpenBLASOpenMP_NOT_FOUND_MESSAGE "no OpenBLAS on OpenMP (Debian and Ubuntu: libopenblas-openmp-dev)")
unset(OpenBLASOpenMP_VERSION)

find_library(OpenBLASOpenMP_LIBRARY NAMES openblas PATH_SUFFIXES openblas-openmp NO_DEFAULT_PATH
             PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib64 /usr/lib)
find_library(OpenBLASOpenMP_LIBRARY NAMES openblaso) # as Fedora names it
find_path(OpenBLASOpenMP_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas-openmp openblas
          PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
mark_as_advanced(OpenBLASOpenMP_LIBRARY OpenBLASOpenMP_INCLUDE_DIR)

if(OpenBLASOpenMP_INCLUDE_DIR AND EXISTS "${OpenBLASOpenMP_INCLUDE_DIR}/openblas_config.h")
  file(STRINGS "${OpenBLASOpenMP_INCLUDE_DIR}/openblas_config.h" OpenBLASOpenMP_version_line
       REGEX "#define +OPENBLAS_VERSION ")
  if(OpenBLASOpenMP_version_line MATCHES "([0-9]+\\.[0-9]+\\.[0-9]+)")
    set(OpenBLASOpenMP_VERSION "${CMAKE_MATCH_1}")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLASOpenMP REQUIRED_VARS OpenBLASOpenMP_LIBRARY OpenBLASOpenMP_INCLUDE_DIR
                                  VERSION_VAR OpenBLASOpenMP_VERSION
                                  REASON_FAILURE_MESSAGE "${OpenBLASOpenMP_NOT_FOUND_MESSAGE}")

if(OpenBLASOpenMP_FOUND AND NOT TARGET OpenBLAS::OpenMP)
  add_library(OpenBLAS::OpenMP UNKNOWN IMPORTED)
  set_target_properties(OpenBLAS::OpenMP PROPERTIES IMPORTED_LOCATION "${OpenBLASOpenMP_LIBRARY}"
                                                    INTERFACE_INCLUDE_DIRECTORIES "${OpenBLASOpenMP_INCLUDE_DIR}")
endif()
