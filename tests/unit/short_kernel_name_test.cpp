// SPDX-License-Identifier: Apache-2.0
#include "report/gap/short_kernel_name.hpp"

#include "support/catch.hpp"

using benanza::report::short_kernel_name;

TEST_CASE("a kernel of CUDA C++ is shown by its function") {
  CHECK(short_kernel_name(
            "void op_generic_tensor_kernel<3, __half, float, (cudnnGenericOp_t)7>(cudnnTensorStruct, __half*)") ==
        "op_generic_tensor_kernel");
  CHECK(short_kernel_name(
            "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::Half, float, false>(int, "
            "float, c10::Half const*)") == "at::native::vectorized_layer_norm_kernel");
  CHECK(short_kernel_name(
            "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, __half>(cublasGemvParams)") ==
        "internal::gemvx::kernel");
  CHECK(short_kernel_name("void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda("
                          "at::TensorIteratorBase&)::{lambda()#3}::operator()() const>(int, std::array<char*, 2ul>)") ==
        "at::native::unrolled_elementwise_kernel");
}

TEST_CASE("other names of records stay as they are") {
  for (const char* name : {"Memset (Device)", "Memcpy HtoD (Pinned -> Device)", "aten::linear", "node_Conv_754",
                           "nvjet_sm90_hsh_64x16_64x16_2x4_h_bz_bias_TNT", "reorder nchw to nhwc", "(unnamed)", ""})
    CHECK(short_kernel_name(name) == name);
}
