
# oneDNN 3 on GNU's OpenMP.
find_path(ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp REQUIRED)
find_library(ONEDNN_LIBRARY dnnl REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
target_include_directories(suite SYSTEM PRIVATE ${ONEDNN_INCLUDE_DIR})
target_link_libraries(suite PRIVATE ${ONEDNN_LIBRARY} OpenMP::OpenMP_CXX)
