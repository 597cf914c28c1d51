
# cuDNN 9 (PyPI: nvidia-cudnn-cu13).
find_path(CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS} REQUIRED)
find_library(CUDNN_LIBRARY cudnn HINTS ${CUDAToolkit_LIBRARY_DIR} REQUIRED)
target_include_directories(suite SYSTEM PRIVATE ${CUDNN_INCLUDE_DIR})
target_link_libraries(suite PRIVATE ${CUDNN_LIBRARY})
get_target_property(sources suite SOURCES)
if("cudnn_attention.cpp" IN_LIST sources) # its graphs of attention by way of headers (PyPI: nvidia-cudnn-frontend)
  find_path(CUDNN_FRONTEND_INCLUDE_DIR cudnn_frontend.h REQUIRED)
  target_include_directories(suite SYSTEM PRIVATE ${CUDNN_FRONTEND_INCLUDE_DIR})
  target_link_libraries(suite PRIVATE CUDA::nvrtc)
  set_source_files_properties(cudnn_attention.cpp PROPERTIES COMPILE_OPTIONS -O0 SKIP_PRECOMPILE_HEADERS ON) # the headers are large
endif()
