// SPDX-License-Identifier: Apache-2.0
// That reproducers compile and run is tests/codegen; here is what stands in them.
#include "support/catch.hpp"
#include <benanza/codegen.hpp>
#include <benanza/error.hpp>
#include <benanza/layer_signature.hpp>

#include <sstream>

namespace {

using namespace benanza;

std::string emitted(const std::string& signature, const std::string& plan, const std::string& backend = "onednn") {
  std::ostringstream out;
  emit_reproducer({.layer = parse_layer(signature), .backend = backend, .plan = plan, .command = "benanza generate"},
                  out);
  return out.str();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a reproducer is the library's own calls and no Benanza header") {
  const std::string text = emitted("Conv/f32/x=1x64x56x56/w=128x32x3x3/pads=1x1x1x1/group=2/post=bias,add,relu",
                                   "jit:avx2,src=aBcd8b,wei=gOIhw8i8o,dst=aBcd8b,threads=2");
  CHECK_FALSE(has(text, "#include <benanza"));
  CHECK_FALSE(has(text, "@"));
  CHECK(has(text, "constexpr int threads = 2;"));
  CHECK(has(text, "implementation = \"jit:avx2\""));
  CHECK(has(text, "x = {1, 64, 56, 56}, w = {2, 64, 32, 3, 3}, y = {1, 128, 56, 56}, b = {128};"));
  CHECK(has(text, "memory::desc(x, type, tag::aBcd8b)"));
  CHECK(has(text, "post.append_binary(algorithm::binary_add, memory::desc(y, type, tag::aBcd8b));"));
  CHECK(has(text, "DNNL_ARG_ATTR_MULTIPLE_POST_OP(0)"));
  CHECK(has(text, "post.append_eltwise(algorithm::eltwise_relu, 0, 0);"));
}

TEST_CASE("a matrix product folds its batch where it can, weights lie as the plan says") {
  const std::string plain = emitted("MatMul/f32/a=1x128x768/b=768x3072/b_constant=1/post=bias", "brg:avx2,threads=1");
  CHECK(has(plain, "a = {128, 768}, b = {768, 3072}, y = {128, 3072}, c = {1, 3072};"));
  CHECK(has(plain, "row_major(a), row_major(b)"));
  CHECK(has(emitted("MatMul/f32/a=128x768/b=768x3072/b_constant=1", "brg:avx2,wei=BA16a64b,threads=1"), "tag::any"));
  CHECK(has(emitted("MatMul/f32/a=12x128x64/b=12x64x128/trans_b=1", "brg:avx2,threads=1"), "transposed(b)"));
  const std::string inner = emitted("MatMul/f32/a=1x2048/b=2048x1000/b_constant=1", "inner_product:gemm:jit,threads=1");
  CHECK(has(inner, "inner_product_forward::primitive_desc"));
  CHECK(has(inner, "implementation = \"gemm:jit\""));
  CHECK(has(inner, "w = {1000, 2048}"));
}

TEST_CASE("what has no reproducer is refused with the reason") {
  const std::string conv = "Conv/f32/x=1x3x8x8/w=8x3x3x3";
  CHECK_THROWS_WITH(emitted(conv, "any", "abacus"),
                    Catch::Contains("'abacus' has no reproducers") && Catch::Contains("onednn"));
  CHECK_THROWS_WITH(emitted("Unary/f32/fn=relu/x=64", "jit:avx2"), Catch::Contains("Unary has no reproducer"));
  CHECK_THROWS_WITH(emitted("Conv/i8/x=1x3x8x8/w=8x3x3x3", "jit:avx2"), Catch::Contains("type i8"));
  CHECK_THROWS_WITH(emitted(conv + "/post=erf", "jit:avx2"), Catch::Contains("erf"));
  for (const char* plan :
       {"", ",", "jit,", "jit,=2", "jit,src=", "jit,threads=x", "jit,threads=0", "jit\";", "a\\b", "a\nb"})
    CHECK_THROWS_AS(emitted(conv, plan), UsageError);
}
