// SPDX-License-Identifier: Apache-2.0
#include "external_files.hpp"

#include <benanza/error.hpp>

namespace benanza::importer {

std::string_view ExternalFiles::bytes(const ExternalData& place, std::size_t size) {
  if (!model_) return {};
  auto found = files_.find(place.location);
  if (found == files_.end()) {
    if (files_.size() >= most_files) return {};
    std::unique_ptr<MappedFile> file;
    try {
      file = std::make_unique<MappedFile>(*model_, place.location);
    } catch (const Error&) {
      // A model can be read for its structure without them.
    }
    found = files_.emplace(place.location, std::move(file)).first;
  }
  if (!found->second) return {};
  const std::string_view all = found->second->bytes();
  return place.offset <= all.size() && size <= all.size() - place.offset ? all.substr(place.offset, size)
                                                                         : std::string_view{};
}

}  // namespace benanza::importer
