// SPDX-License-Identifier: Apache-2.0
#include "version_text.hpp"

#include "plan/backends.hpp"
#include <benanza/version.hpp>

namespace benanza::tool {

std::string version_text() {
  std::string text = "benanza " + std::string(version);
  if (constexpr std::string_view commit = BENANZA_COMMIT; !commit.empty()) text += " (" + std::string(commit) + ")";
  for (const auto& backend : plan::all_backends())
    text += "\n  " + std::string(backend->name()) + " " + backend->version();
  return text;
}

}  // namespace benanza::tool
