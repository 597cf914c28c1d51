// SPDX-License-Identifier: Apache-2.0
// Expressions in backend native against the reference: rows that are short, long, few and many; operands that broadcast
// along any dimension; several results; element types; one to three threads.
#include "backend/native/backend.hpp"
#include "plan_support.hpp"
#include <benanza/model/layer_signature.hpp>

namespace benanza {

namespace {

void check_expression(const std::string& text) {
  const Layer layer = parse_layer("Expression/" + text);
  for (const auto isa : {native::Isa::baseline, native::Isa::avx2, native::Isa::avx512}) {
    if (!native::runs_here(isa)) continue;
    for (const int threads : {1, 2, 3}) {
      INFO(text << ", " << native::isa_names[static_cast<std::size_t>(isa)] << ", threads " << threads);
      CHECK(test::check_plans(*native::backend(isa), layer, threads) > 0);
    }
  }
}

/// Softmax of rows, written out.
std::string softmax(const std::string& x, const std::string& type = "f32") {
  return type + "/x=" + x + "/rows=1/in=" + type +
         "/steps=row_max:0,sub:0:1,exp:2,row_sum:3,reciprocal:4,mul:3:5/out=6";
}

}  // namespace

TEST_CASE("Expressions of functions agree with the reference, however their operands broadcast", "[native]") {
  for (const auto* shapes :
       {"x=1037/in=f32,f32", "x=3x700/in=f32,f32:1x700", "x=40x53/in=f32,f32:40x1", "x=90x7/in=f32,f32:90x1",
        "x=90x7/in=f32,f32:1x7", "x=2x3x5x70/in=f32,f32:1x3x1x70", "x=2x3x50x7/in=f32,f32:2x1x50x1",
        "x=2x3x50x70/in=f32:2x3x1x70,f32:2x1x50x70", "x=300001/in=f32,f32", "x=77/in=f32,f32:1", "x=1/in=f32,f32"})
    check_expression("f32/" + std::string(shapes) + "/steps=mul:0:1,sin:2,mul:3:3,add:0:4,tanh:5,max:1:6/out=7");
}

TEST_CASE("Expressions with reductions agree with the reference for rows of any length", "[native]") {
  for (const auto* x : {"1x5", "9x3", "200x33", "5x768", "3x2048", "2x5000", "1x100000", "3x40000", "2x300000"})
    check_expression(softmax(x));
  check_expression(
      "f32/x=7x1000/rows=1/in=f32,f32:1x1,f32:1x1000/"
      "steps=row_mean:0,sub:0:3,square:4,row_mean:5,add:1:6,sqrt:7,reciprocal:8,mul:4:9,mul:2:10/out=11");
  for (const auto* reduction : {"sum", "mean", "max", "min", "prod", "l1", "sum_square"})
    check_expression("f32/x=3x4x50/rows=2/in=f32,f32:3x1x50/steps=mul:0:1,row_" + std::string(reduction) + ":2/out=3");
}

TEST_CASE("Expressions reduce over several dimensions, and over everything", "[native]") {
  check_expression("f32/x=6x8x50/rows=1/in=f32,f32:1x8x1/steps=mul:0:1,row_sum:2,div:2:3/out=4");
  check_expression("f32/x=6x8x5/rows=1/in=f32,f32:1x8x1/steps=mul:0:1,row_sum:2,div:2:3/out=4");
  check_expression("f32/x=30000/in=f32,f32/steps=sub:0:1,square:2,row_mean:3/out=4");
  check_expression("f32/x=50/in=f32,f32/steps=sub:0:1,square:2,row_mean:3/out=4");
}

TEST_CASE("Expressions may have several results, also of rows, that later steps read again", "[native]") {
  check_expression("f32/x=5x300/rows=1/in=f32,f32/steps=add:0:1,row_max:2,sub:2:3,exp:4,row_sum:5/out=2x6x3x5");
  check_expression("f32/x=2x70000/rows=1/in=f32,f32/steps=add:0:1,row_max:2,sub:2:3,exp:4,row_sum:5/out=2x6x3x5");
  check_expression("f32/x=600000/in=f32/steps=sin:0,cos:0,add:1:2/out=1x3");
}

TEST_CASE("Expressions of other element types agree with the reference", "[native]") {
  for (const auto* type : {"f16", "bf16"}) {
    const std::string t = type;
    for (const auto* x : {"5x300", "90x7", "2x70000"}) check_expression(softmax(x, t));
    check_expression(t + "/x=40x53/in=" + t + "," + t + ":40x1/steps=mul:0:1,add:0:2,relu:3/out=4x2");
    check_expression(t + "/x=90x7/in=" + t + "," + t + ":90x1/steps=mul:0:1,cast:2:f32,tanh:3/out=4x2");
  }
  check_expression("f32/x=160/in=f32/steps=row_sum_square:0,sqrt:1,tanh:2,cast:3:i32,cast:4:f32,mul:0:5/out=6");
  check_expression("f64/x=4x99/in=f64,f64:1x99/steps=mul:0:1,add:0:2/out=3");
  check_expression("i64/x=4x99/in=i64,i64:1x99/steps=mul:0:1,add:0:2,cast:3:i32,neg:4/out=5");
  check_expression("f32/x=4x99/in=bool:4x1,f32,f32:1x1/steps=where:0:1:2,exp:3/out=4");
  check_expression("f32/x=40x9/in=bool:1x9,f32,f32:1x1/steps=logical_not:0,where:3:1:2,exp:4/out=5");
  check_expression("f32/x=4x99/in=f32,bool/steps=is_nan:0,logical_or:1:2,cast:3:f32,add:0:4/out=5x3");
}

}  // namespace benanza
