// SPDX-License-Identifier: Apache-2.0
// NumPy files, with the bytes that numpy 2.4 writes.
#include "execution/npy.hpp"

#include "support/catch.hpp"
#include "support/onnx_text.hpp"

#include <fstream>

using namespace benanza;

namespace {

/// A file as numpy.save writes it: the text of the header, padded to 64 bytes, followed by the data.
std::string npy(const std::string& text, const std::string& data, char version = 1) {
  const std::size_t prefix = version == 1 ? 10 : 12;
  std::string padded = text;
  while ((prefix + padded.size() + 1) % 64 != 0) padded += ' ';
  padded += '\n';
  std::string whole = "\x93NUMPY";
  whole += version;
  whole += '\0';
  whole += static_cast<char>(padded.size());
  whole += '\0';
  if (version != 1) whole += std::string(2, '\0');
  return whole + padded + data;
}

std::string header(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

Tensor read(const std::string& bytes) { return read_npy(testing::TemporaryFile(bytes, ".npy").path()); }

std::string refusal(const std::string& bytes) {
  return testing::message_of<InputError>([&] { (void)read(bytes); });
}

}  // namespace

TEST_CASE("arrays are read in every version, order of elements and order of bytes") {
  const std::string data("\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06\x00", 12);
  for (const char version : {'\1', '\2', '\3'}) {
    const Tensor x = read(npy(header("<i2", "(2, 3)"), data, version));
    CHECK(x.type() == DataType::i16);
    CHECK(x.dims() == Tensor::Dims{2, 3});
    CHECK(x.values() == std::vector<double>{1, 2, 3, 4, 5, 6});
  }
  // numpy.asfortranarray([[1, 3, 5], [2, 4, 6]])
  CHECK(read(npy(header("<i2", "(2, 3)", "True"), data)).values() == std::vector<double>{1, 3, 5, 2, 4, 6});
  CHECK(read(npy(header(">i2", "(6,)"), data)).values() == std::vector<double>{256, 512, 768, 1024, 1280, 1536});
}

TEST_CASE("every type of numbers is read") {
  CHECK(read(npy(header("<f4", "()"), std::string("\0\0\xc0\x3f", 4))).values() == std::vector<double>{1.5});
  CHECK(read(npy(header("<f2", "(1,)"), std::string("\0\x3e", 2))).values() == std::vector<double>{1.5});
  CHECK(read(npy(header("|b1", "(2,)"), std::string("\1\0", 2))).type() == DataType::boolean);
  CHECK(read(npy(header("|u1", "(1,)"), "\xff")).values() == std::vector<double>{255});
  CHECK(read(npy(header("<i8", "(0, 3)"), "")).dims() == Tensor::Dims{0, 3});
}

TEST_CASE("files that are cut off, or of another kind, are refused by name") {
  CHECK(refusal("hello").find("not a NumPy file") != std::string::npos);
  CHECK(refusal(npy(header("<f4", "(2,)"), "1234")).find("4 bytes of data, expected 8 of f32 2") != std::string::npos);
  CHECK(refusal(npy(header("<f4", "(2,)"), "1234567890")).find("10 bytes of data, expected 8") != std::string::npos);
  CHECK(refusal(npy(header("<c8", "(1,)"), "12345678")).find("elements of type '<c8'") != std::string::npos);
  CHECK(refusal(npy(header("<f4", "(1,)"), "1234", '\x09')).find("version 9 of NumPy's format, expected 1 to 3") !=
        std::string::npos);
  CHECK(refusal(npy(header("<f4", "(2,)"), "").substr(0, 20)).find("its header has no shape") != std::string::npos);
  CHECK_THAT(refusal(npy(header("<f4", "(99999999999, 99999999999)"), "")),
             Catch::Contains(".npy: the number of its elements overflows"));
  CHECK(refusal(npy(header("<f4", "(4611686018427387904, 4)"), "")).find("overflows") != std::string::npos);
}

TEST_CASE("what is written is NumPy's own bytes, and is read back") {
  const testing::TemporaryFile file("", ".npy");
  const Tensor x = Tensor::of(DataType::i16, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
  write_npy(file.path(), x);
  const Tensor back = read_npy(file.path());
  CHECK(back.type() == x.type());
  CHECK(back.dims() == x.dims());
  CHECK(back.values() == x.values());
  std::ifstream in(file.path(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  CHECK(bytes == npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }",
                     std::string("\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06\x00", 12)));
  write_npy(file.path(), Tensor::of(DataType::bf16, {}, std::vector<double>{1.5}));
  CHECK(read_npy(file.path()).type() == DataType::f32);
}
