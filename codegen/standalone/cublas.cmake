target_link_libraries(suite PRIVATE CUDA::cublas CUDA::cublasLt)
