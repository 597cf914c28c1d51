// SPDX-License-Identifier: Apache-2.0
// oneDNN's log, as its versions 2 and 3 print it.
#include "support/profile_support.hpp"

namespace {

using namespace profile_support;

const std::string header_2 =
    "onednn_verbose,info,oneDNN v2.6.3 (commit N/A)\n"
    "onednn_verbose,info,cpu,runtime:OpenMP,nthr:2\n"
    "onednn_verbose,info,cpu,isa:Intel AVX-512 with Intel DL Boost\n"
    "onednn_verbose,info,prim_template:operation,engine,primitive,implementation,prop_kind,memory_descriptors,"
    "attributes,"
    "auxiliary,problem_desc,exec_time\n";
const std::string reorder_2 =
    "onednn_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:abcd:f0 "
    "dst_f32::blocked:aBcd16b:f0,,,1x64x56x56,0.25\n";
const std::string conv_2 =
    "onednn_verbose,exec,cpu,convolution,jit:avx512_core,forward_inference,src_f32::blocked:aBcd16b:f0 "
    "wei_s8::blocked:ABcd16b16a:f0 bia_f32::blocked:a:f0 dst_u8::blocked:aBcd16b:f0,attr-scratchpad:user "
    "attr-post-ops:eltwise_relu ,alg:convolution_direct,mb1_ic64oc128_ih56oh28kh3sh2dh0ph1_iw56ow28kw3sw2dw0pw1,0.5\n";

std::string with_time(const std::string& line, const std::string& time) {
  return line.substr(0, line.rfind(',') + 1) + time + "\n";
}

}  // namespace

TEST_CASE("a log of oneDNN 2 gives primitives, and reorders apart") {
  std::string text = "model loaded\n" + header_2 + with_time(reorder_2, "9");
  for (const char* time : {"0.9", "0.5", "0.51", "0.5"})
    text += conv_2.substr(0, conv_2.rfind(',') + 1) + time + "\nprogress: " + reorder_2;
  const auto profile = read_text(text);
  CHECK(profile.engine == "onednn");
  CHECK(profile.version == "2.6.3");
  CHECK(profile.threads == 2);
  CHECK(profile.device == "Intel AVX-512 with Intel DL Boost");
  // r c r c r c r c r: from its start on, it repeats every two records; four passes of (r c), and one reorder is left.
  REQUIRE(profile.records.size() == 2);
  CHECK(warned(profile, "4 passes found by repetition of 2 records"));
  CHECK(warned(profile, "1 primitives outside of the 4 passes"));
  const auto& conv =
      record(profile, "convolution mb1_ic64oc128_ih56oh28kh3sh2dh0ph1_iw56ow28kw3sw2dw0pw1 +eltwise_relu");
  CHECK(conv.op == "convolution");
  CHECK(conv.algorithm == "jit:avx512_core");
  CHECK(conv.activity == Activity::layer);
  CHECK(conv.inputs == std::vector<ProfiledTensor>{{DataType::f32, {1, 64, 56, 56}}, {DataType::i8, {128, 64, 3, 3}}});
  CHECK(conv.outputs == std::vector<ProfiledTensor>{{DataType::u8, {1, 128, 28, 28}}});
  CHECK(profile.records[0].activity == Activity::conversion);
  CHECK(profile.latencies.empty());
}

TEST_CASE("a version of lines that is not known is said once") {
  const auto lines = [](const std::string& version) {
    const std::string line = "onednn_verbose," + version +
                             ",primitive,exec,cpu,softmax,ref:any,forward_inference,src:f32::blocked:ab::f0 "
                             "dst:f32::blocked:ab::f0,,alg:softmax_accurate axis:1,64x32,0.25\n";
    return line + line;
  };
  const auto is_said = [](const EngineProfile& profile) {
    return std::count_if(profile.warnings.begin(), profile.warnings.end(), [](const std::string& text) {
      return text.find("lines of version v9; known are those up to v1") != std::string::npos;
    });
  };
  CHECK(is_said(read_text(lines("v9"))) == 1);
  CHECK(is_said(read_text(lines("v1"))) == 0);
}

TEST_CASE("columns are those that the log names") {
  // Version 3.4 and later: a version, a component, and descriptors with colons; here the columns are in another order.
  const auto profile = read_text(
      "onednn_verbose,v1,info,oneDNN v3.5.0 (commit abc)\n"
      "onednn_verbose,v1,info,cpu,runtime:OpenMP,nthr:16\n"
      "onednn_verbose,v1,primitive,info,template:operation,engine,primitive,implementation,prop_kind,memory_"
      "descriptors,"
      "attributes,auxiliary,exec_time,problem_desc\n"
      "onednn_verbose,v1,primitive,create:cache_miss,cpu,matmul,brg:avx512_core,undef,src:f32::blocked:ab::f0 "
      "wei:f32::blocked:ab::f0 dst:f32::blocked:ab::f0,,,7,64x128:128x32\n"
      "onednn_verbose,v1,primitive,exec,cpu,matmul,brg:avx512_core,undef,src:bf16::blocked:ab::f0 "
      "wei:bf16::blocked:ab::f0 "
      "dst:f32::blocked:ab::f0,,,0.125,64x128:128x32\n"
      "onednn_verbose,v1,primitive,exec,gpu:0,softmax,ocl,forward_inference,src:f16::blocked:ab::f0 "
      "dst:f16::blocked:ab::f0,,alg:softmax_accurate axis:1,0.25,64x32\n");
  CHECK(profile.version == "3.5.0");
  CHECK(profile.threads == 16);
  REQUIRE(profile.records.size() == 2);
  const auto& product = profile.records[0];
  CHECK(microseconds(product.times) == std::vector<double>{125});
  CHECK(product.inputs == std::vector<ProfiledTensor>{{DataType::bf16, {64, 128}}, {DataType::bf16, {128, 32}}});
  CHECK(product.outputs == std::vector<ProfiledTensor>{{DataType::f32, {64, 32}}});
  CHECK(profile.records[1].provider == "onednn gpu:0");
  CHECK(profile.records[1].outputs == std::vector<ProfiledTensor>{{DataType::f16, {64, 32}}});
  CHECK(warned(profile, "nothing repeats"));
}

TEST_CASE("sizes of other problems") {
  const auto tensors = [](const std::string& rest) {
    const auto profile = read_text(header_2 + "onednn_verbose,exec,cpu," + rest + ",1\n");
    return std::pair(profile.records.at(0).inputs, profile.records.at(0).outputs);
  };
  using Tensors = std::vector<ProfiledTensor>;
  const DataType f32 = DataType::f32;
  const std::string memory = "src_f32::blocked:abcd:f0 wei_f32::blocked:abcd:f0 dst_f32::blocked:abcd:f0";
  CHECK(tensors("convolution,jit,forward," + memory + ",,,g32mb1_ic32oc32_ih8oh8kh3_iw8ow8kw3") ==
        std::pair(Tensors{{f32, {1, 32, 8, 8}}, {f32, {32, 1, 3, 3}}}, Tensors{{f32, {1, 32, 8, 8}}}));
  CHECK(tensors("inner_product,brg,forward," + memory + ",,,mb4ic512ih7iw7oc1000") ==
        std::pair(Tensors{{f32, {4, 512, 7, 7}}, {f32, {1000, 512, 7, 7}}}, Tensors{{f32, {4, 1000}}}));
  CHECK(tensors("pooling,jit,forward,src_f32::blocked:abcd:f0 "
                "dst_f32::blocked:abcd:f0,,,mb1ic64_ih112oh56kh3_iw112ow56kw3") ==
        std::pair(Tensors{{f32, {1, 64, 112, 112}}}, Tensors{{f32, {1, 64, 56, 56}}}));
  CHECK(tensors("matmul,brg,undef," + memory + ",,,12x128x64:1x64x128:12x128x128") ==
        std::pair(Tensors{{f32, {12, 128, 64}}, {f32, {1, 64, 128}}}, Tensors{{f32, {12, 128, 128}}}));
  CHECK(tensors("binary,jit,undef,src_f32::blocked:ab:f0 src_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,,2x3:1x3")
            .first.front() == ProfiledTensor{f32, {2, 3}});
}

TEST_CASE("a broken log of oneDNN is refused with the byte") {
  const std::string text = header_2 + conv_2;
  const std::string at = "byte " + std::to_string(header_2.size());
  CHECK_THAT(error_of(text.substr(0, text.size() - 80)), Catch::Contains(at + ": a line of 8 columns, expected 10"));
  CHECK_THAT(error_of(header_2 + with_time(conv_2, "-1")),
             Catch::Contains(at + ": exec_time '-1' in milliseconds, expected 0 or a time from 1 ps to 1 year"));
  CHECK_THAT(error_of(header_2 + with_time(conv_2, "0.5x")), Catch::Contains("exec_time '0.5x'"));
  CHECK_THAT(error_of(header_2 + with_time(conv_2, "1e300")), Catch::Contains("exec_time '1e300'"));
  for (const std::string part : {"eltwise", "exec", "verbose"}) {
    std::string bad = conv_2;
    bad.replace(bad.find(part), 1, "\xFF");
    const auto lacking = read_text(header_2 + conv_2 + bad + reorder_2);
    CHECK(lacking.unreadable == 1);
    CHECK(warned(lacking, "a line that is not UTF-8; this record is left out"));
  }
  // Cut off inside the last number: 0.5 of 0.51.
  const std::string cut = header_2 + conv_2 + with_time(conv_2, "0.51");
  const std::string last = "byte " + std::to_string(header_2.size() + conv_2.size());
  const auto profile = read_text(cut.substr(0, cut.size() - 2));
  CHECK(profile.records.size() == 1);
  CHECK(warned(profile, last + ": the last line has no line end"));
  CHECK_THAT(error_of(header_2), Catch::Contains("no executed primitive: run with ONEDNN_VERBOSE=profile_exec"));
}
