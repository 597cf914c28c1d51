# SPDX-License-Identifier: Apache-2.0
#
# Finds the headers of cuDNN (9 or later) and of cudnn-frontend: in the CUDA toolkit, in CMAKE_PREFIX_PATH (scripts/bootstrap unpacks
# PyPI's wheels there), or in the system. The library itself is loaded at run time.
#
#   cuDNN_FOUND                  whether cuDNN's headers are there
#   cuDNN_VERSION                their version
#   cuDNN_INCLUDE_DIR            their folder
#   cuDNN_FRONTEND_INCLUDE_DIR   the folder of cudnn_frontend.h, or cuDNN_FRONTEND_INCLUDE_DIR-NOTFOUND
#   cuDNN_FRONTEND_SUMMARY       its version, or why there is none
#   cuDNN_NOT_FOUND_MESSAGE      why there is no cuDNN

set(cuDNN_NOT_FOUND_MESSAGE "no headers of cuDNN 9 (PyPI: nvidia-cudnn-cu13)")
unset(cuDNN_VERSION)
find_path(cuDNN_INCLUDE_DIR cudnn_version.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ENV CUDNN_PATH PATH_SUFFIXES include nvidia/cudnn/include)
find_path(cuDNN_FRONTEND_INCLUDE_DIR cudnn_frontend.h PATH_SUFFIXES include)
mark_as_advanced(cuDNN_INCLUDE_DIR cuDNN_FRONTEND_INCLUDE_DIR)

if(cuDNN_INCLUDE_DIR)
  set(cuDNN_version_file "${cuDNN_INCLUDE_DIR}/cudnn_version_v9.h")
  if(NOT EXISTS "${cuDNN_version_file}")
    set(cuDNN_version_file "${cuDNN_INCLUDE_DIR}/cudnn_version.h")
  endif()
  file(STRINGS "${cuDNN_version_file}" cuDNN_lines REGEX "#define CUDNN_(MAJOR|MINOR|PATCHLEVEL) +[0-9]+")
  string(REGEX REPLACE "[^;0-9]+" "" cuDNN_numbers "${cuDNN_lines}")
  string(REPLACE ";" "." cuDNN_VERSION "${cuDNN_numbers}")
endif()
if(cuDNN_FRONTEND_INCLUDE_DIR)
  file(STRINGS "${cuDNN_FRONTEND_INCLUDE_DIR}/cudnn_frontend_version.h" cuDNN_lines REGEX "#define CUDNN_FRONTEND_(MAJOR|MINOR|PATCH)_VERSION")
  string(REGEX REPLACE "[^;0-9]+" "" cuDNN_numbers "${cuDNN_lines}")
  string(REPLACE ";" "." cuDNN_FRONTEND_SUMMARY "cudnn-frontend ${cuDNN_numbers}")
else()
  set(cuDNN_FRONTEND_SUMMARY "no headers of cudnn-frontend (PyPI: nvidia-cudnn-frontend)")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(cuDNN REQUIRED_VARS cuDNN_INCLUDE_DIR VERSION_VAR cuDNN_VERSION
                                  REASON_FAILURE_MESSAGE "${cuDNN_NOT_FOUND_MESSAGE}")
