// SPDX-License-Identifier: Apache-2.0
// Replaces graphs.cpp if the headers of cudnn-frontend are missing.
#include "graphs.hpp"

namespace benanza::cudnn {

void add_graph_plans(const Layer&, Candidates& candidates) {
  candidates.refuse("this Benanza was built without the headers of cudnn-frontend");
}

std::vector<std::string> graph_plans_listed(const Layer&, const std::string&) { return {}; }

}  // namespace benanza::cudnn
