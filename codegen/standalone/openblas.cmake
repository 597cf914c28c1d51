
# The OpenBLAS that runs on OpenMP's threads: Debian and Ubuntu have it in a folder of its own.
find_path(OPENBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp openblas REQUIRED)
find_library(OPENBLAS_LIBRARY NAMES openblaso openblas PATH_SUFFIXES openblas-openmp REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
target_include_directories(suite SYSTEM PRIVATE ${OPENBLAS_INCLUDE_DIR})
target_link_libraries(suite PRIVATE ${OPENBLAS_LIBRARY} OpenMP::OpenMP_CXX)
