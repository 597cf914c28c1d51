// SPDX-License-Identifier: Apache-2.0
// NotExecutable: a node that nothing here can compute.
#pragma once

#include <benanza/error.hpp>
#include <benanza/model/graph.hpp>

#include <string>

namespace benanza {

/// Thrown by an executor, which would otherwise compute something else than the node asks for.
struct NotExecutable : InputError {
  /// `reason` says what part of the node is not computed.
  NotExecutable(const Node& node, const std::string& why)
      : InputError("node '" + node.name + "' (" + (node.domain.empty() ? "" : node.domain + ".") + node.op_type +
                   "): cannot be executed: " + why),
        reason(why) {}
  std::string reason;
};

}  // namespace benanza
