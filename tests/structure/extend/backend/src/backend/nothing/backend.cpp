// SPDX-License-Identifier: Apache-2.0
#include <benanza/backend/nothing.hpp>
#include <benanza/plan/backend.hpp>

namespace benanza::nothing {

namespace {

class Nothing final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "nothing"; }
  [[nodiscard]] std::string version() const override { return "1"; }
  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int) const override {
    return Unsupported{"no " + std::string(kind(layer)) + " in backend nothing"};
  }
};

}  // namespace

std::shared_ptr<const Backend> backend() { return std::make_shared<Nothing>(); }

}  // namespace benanza::nothing
