# SPDX-License-Identifier: Apache-2.0
#
# Finds oneDNN 3.2 or later, by its own CMake package or, where that is missing, by its header and library; for example
# as the PyPI wheels onednn-cpu-gomp and onednn-devel-cpu-gomp unpack. Version 2 has another interface and is refused.
#
#   oneDNN::oneDNN            the library
#   oneDNN_FOUND              whether there is one that serves
#   oneDNN_VERSION            its version, also of one that was refused
#   oneDNN_LIBRARY_FILE       the file of the shared library, without symbolic links
#   oneDNN_SONAME             the name by which programs load it
#   oneDNN_HEADERS            the folder of its headers
#   oneDNN_NOT_FOUND_MESSAGE  why there is none

if(NOT oneDNN_FIND_VERSION)
  set(oneDNN_FIND_VERSION 3.2)
endif()
set(oneDNN_NOT_FOUND_MESSAGE "")
unset(oneDNN_location)
unset(oneDNN_VERSION)

find_package(dnnl ${oneDNN_FIND_VERSION} CONFIG QUIET)

if(dnnl_FOUND)
  set(oneDNN_VERSION ${dnnl_VERSION})
  set(oneDNN_location "${dnnl_DIR}")
  if(NOT TARGET oneDNN::oneDNN)
    add_library(oneDNN::oneDNN INTERFACE IMPORTED) # no alias: an export would name the target behind it
    target_link_libraries(oneDNN::oneDNN INTERFACE DNNL::dnnl)
  endif()
  get_target_property(oneDNN_LIBRARY_FILE DNNL::dnnl LOCATION)
  get_target_property(oneDNN_HEADERS DNNL::dnnl INTERFACE_INCLUDE_DIRECTORIES)
else()
  find_library(oneDNN_LIBRARY NAMES dnnl libdnnl.so.3) # the second name is all that an install tree of Benanza has
  if(oneDNN_LIBRARY)
    get_filename_component(oneDNN_library_dir "${oneDNN_LIBRARY}" DIRECTORY)
  endif()
  find_path(oneDNN_INCLUDE_DIR oneapi/dnnl/dnnl_version.h HINTS "${oneDNN_library_dir}/../include")
  mark_as_advanced(oneDNN_LIBRARY oneDNN_INCLUDE_DIR)

  if(NOT oneDNN_LIBRARY OR NOT oneDNN_INCLUDE_DIR)
    set(oneDNN_NOT_FOUND_MESSAGE "no oneDNN under CMAKE_PREFIX_PATH or the system's folders (scripts/bootstrap fetches one)")
  else()
    file(STRINGS "${oneDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h" oneDNN_version_lines
         REGEX "#define +DNNL_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
    string(REGEX REPLACE "[^0-9;]" "" oneDNN_VERSION "${oneDNN_version_lines}")
    string(REPLACE ";" "." oneDNN_VERSION "${oneDNN_VERSION}")
    if(oneDNN_VERSION VERSION_LESS oneDNN_FIND_VERSION)
      set(oneDNN_NOT_FOUND_MESSAGE "oneDNN ${oneDNN_VERSION} in ${oneDNN_INCLUDE_DIR} is too old: ${oneDNN_FIND_VERSION} or later is needed")
      if(oneDNN_VERSION VERSION_LESS 3)
        string(APPEND oneDNN_NOT_FOUND_MESSAGE " (version 2 has another interface)")
      endif()
      unset(oneDNN_LIBRARY CACHE) # so that one installed later is seen
      unset(oneDNN_INCLUDE_DIR CACHE)
    else()
      set(oneDNN_location "${oneDNN_LIBRARY}")
      set(oneDNN_LIBRARY_FILE "${oneDNN_LIBRARY}")
      set(oneDNN_HEADERS "${oneDNN_INCLUDE_DIR}")
      if(NOT TARGET oneDNN::oneDNN)
        add_library(oneDNN::oneDNN UNKNOWN IMPORTED)
        set_target_properties(oneDNN::oneDNN PROPERTIES IMPORTED_LOCATION "${oneDNN_LIBRARY}"
                                                        INTERFACE_INCLUDE_DIRECTORIES "${oneDNN_INCLUDE_DIR}")
      endif()
    endif()
  endif()
endif()

if(oneDNN_location)
  file(REAL_PATH "${oneDNN_LIBRARY_FILE}" oneDNN_LIBRARY_FILE)
  string(REGEX REPLACE "^([0-9]+).*" "libdnnl.so.\\1" oneDNN_SONAME "${oneDNN_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(oneDNN REQUIRED_VARS oneDNN_location VERSION_VAR oneDNN_VERSION
                                  REASON_FAILURE_MESSAGE "${oneDNN_NOT_FOUND_MESSAGE}")
