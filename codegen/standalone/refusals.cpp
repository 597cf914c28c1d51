// Layers for which a library has no row, so that each is a line that says why.
#include "suite.hpp"

namespace {

struct Refusal {
  const char *plan, *signature, *reason;
};
constexpr Refusal refusals[] = {
    // @rows@
};

}  // namespace

void add_refusals() {
  for (const Refusal& refusal : refusals) {
    const std::string plan = refusal.plan;
    name_library(plan.substr(0, plan.find('/')).c_str(), "none");  // unless a family has named the version
    add_refusal(refusal.plan, refusal.signature, refusal.reason);
  }
}
