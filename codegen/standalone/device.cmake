
find_package(CUDAToolkit REQUIRED)
target_include_directories(suite SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(suite PRIVATE CUDA::cudart)
