// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include <benanza/model/data_type.hpp>

#include <utility>

using namespace benanza;

// Numbers and sizes of TensorProto.DataType, onnx.proto of ONNX 1.23.
TEST_CASE("element types have ONNX's numbers and sizes") {
  struct Row {
    int onnx;
    const char* name;
    int bits;
  };
  for (const auto& row :
       {Row{1, "f32", 32}, {2, "u8", 8},          {3, "i8", 8},      {4, "u16", 16},        {5, "i16", 16},
        {6, "i32", 32},    {7, "i64", 64},        {9, "bool", 8},    {10, "f16", 16},       {11, "f64", 64},
        {12, "u32", 32},   {13, "u64", 64},       {14, "c64", 64},   {15, "c128", 128},     {16, "bf16", 16},
        {17, "f8e4m3", 8}, {18, "f8e4m3fnuz", 8}, {19, "f8e5m2", 8}, {20, "f8e5m2fnuz", 8}, {21, "u4", 4},
        {22, "i4", 4},     {23, "f4e2m1", 4},     {24, "f8e8m0", 8}, {25, "u2", 2},         {26, "i2", 2},
        {27, "f6e2m3", 6}, {28, "f6e3m2", 6}}) {
    const auto type = data_type_from_onnx(row.onnx);
    INFO(row.name);
    REQUIRE(type);
    CHECK(name(*type) == row.name);
    CHECK(bits(*type) == row.bits);
    CHECK(data_type_from_name(row.name) == type);
  }
}

TEST_CASE("numbers and names that ONNX does not have are not types") {
  CHECK_FALSE(data_type_from_onnx(0));  // UNDEFINED
  CHECK_FALSE(data_type_from_onnx(29));
  CHECK_FALSE(data_type_from_onnx(-1));
  CHECK_FALSE(data_type_from_name("float"));
  CHECK_FALSE(data_type_from_name(""));
}

TEST_CASE("floating-point types are told from the others") {
  for (auto type : {DataType::f32, DataType::f16, DataType::bf16, DataType::f64, DataType::f8e4m3, DataType::f8e5m2,
                    DataType::f4e2m1})
    CHECK(is_float(type));
  for (auto type :
       {DataType::i8, DataType::u8, DataType::i64, DataType::boolean, DataType::i4, DataType::string, DataType::c64})
    CHECK_FALSE(is_float(type));
}
