// SPDX-License-Identifier: Apache-2.0
// import_onnx: map the file, drop payloads, parse, check, bind, build.
#include "bind.hpp"
#include "build.hpp"
#include "check.hpp"
#include "proto.hpp"
#include "scan.hpp"
#include <benanza/onnx.hpp>

#include <google/protobuf/arena.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace benanza {
namespace {

/// A file in memory, of which only the pages that are read cost anything.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) throw InputError(std::string("cannot be opened: ") + std::strerror(errno));
    struct stat facts {};
    const bool known = ::fstat(descriptor_, &facts) == 0;
    if (!known || !S_ISREG(facts.st_mode)) {
      ::close(descriptor_);
      throw InputError("is not a regular file, expected an ONNX model");
    }
    size_ = static_cast<std::size_t>(facts.st_size);
    if (size_ == 0) return;
    address_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
    if (address_ != MAP_FAILED) return;
    const int error = errno;
    ::close(descriptor_);
    throw EnvironmentError(path.string() + ": cannot be mapped into memory: " + std::strerror(error));
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (size_ != 0) ::munmap(address_, size_);
    ::close(descriptor_);
  }

  [[nodiscard]] std::string_view bytes() const { return {static_cast<const char*>(address_), size_}; }

 private:
  int descriptor_ = -1;
  void* address_ = nullptr;
  std::size_t size_ = 0;
};

/// The message lives in `arena`: thousands of small parts that go all at once.
onnx::ModelProto& parse(const std::filesystem::path& path, google::protobuf::Arena& arena) {
  const MappedFile file(path);
  const std::string structure = importer::drop_payloads(file.bytes());
  if (structure.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw InputError("its structure alone takes " + std::to_string(structure.size()) +
                     " bytes, expected less than 2^31");
  auto& model = *google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
  if (!model.ParseFromArray(structure.data(), static_cast<int>(structure.size())))
    throw InputError("not an ONNX model: its fields are not those of onnx.proto");
  return model;
}

Graph build(const onnx::ModelProto& model, const ImportOptions& options) {
  const importer::Binding binding = importer::bind_inputs(model.graph(), options);
  if (!binding.old_batch) return importer::Builder(model, binding).build();
  importer::History history;
  try {
    const importer::Binding old = importer::at_old_batch(binding, options, model.graph());
    (void)importer::Builder(model, old, nullptr, &history).build();
  } catch (const Error&) {
    // The file's own batch tells what is frozen; a model that does not work with it has nothing to tell.
    history.clear();
  }
  return importer::Builder(model, binding, history.empty() ? nullptr : &history).build();
}

}  // namespace

Graph import_onnx(const std::filesystem::path& file, const ImportOptions& options) {
  const std::string where = file.string() + ": ";
  try {
    google::protobuf::Arena arena;
    onnx::ModelProto& model = parse(file, arena);
    std::vector<std::string> warnings = importer::check_and_inline(model);
    Graph graph = build(model, options);
    graph.warnings.insert(graph.warnings.begin(), warnings.begin(), warnings.end());
    graph.name = file.stem().string();
    graph.file = file.string();
    return graph;
  } catch (const InputError& error) {
    throw InputError(where + importer::one_line(error.what()));
  } catch (const UsageError& error) {
    throw UsageError(where + importer::one_line(error.what()));
  } catch (const std::bad_alloc&) {
    throw EnvironmentError(where + "out of memory");
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError(where + importer::one_line(error.what()));
  }
}

}  // namespace benanza
