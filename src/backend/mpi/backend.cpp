// SPDX-License-Identifier: Apache-2.0
#include "plan/accompanied.hpp"
#include "world.hpp"
#include <benanza/backend/mpi.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <variant>

namespace benanza::mpi {

namespace {

class CollectivePlan final : public AccompaniedPlan {
 public:
  CollectivePlan(const Collective& collective, const std::string& algorithm, const Operands& operands)
      : AccompaniedPlan({.algorithm = algorithm + (collective.in_place ? ":in_place" : "") + ",threads=1",
                         .inputs = plain_layouts(operands.inputs),
                         .outputs = plain_layouts(operands.outputs),
                         .advised = collective.algorithm == 0 && !collective.in_place}),
        collective_(collective) {}

 private:
  void do_announce(const Arguments& arguments, std::int64_t calls) const override {
    if (collective_.in_place) std::memcpy(arguments.outputs[0], arguments.inputs[0], inputs()[0].bytes);
    World::get().announce(collective_, arguments.inputs[0], calls);
  }
  void do_execute(const Arguments& arguments) const override {
    World::get().call(collective_, arguments.inputs[0], arguments.outputs[0]);
  }

  Collective collective_;
};

template <op::CollectiveKind K>
std::variant<Plans, Unsupported> plans_of(const op::Collective<K>& op) {
  if (datatype(op.type) == MPI_DATATYPE_NULL)
    return Unsupported{"MPI adds up no " + std::string(benanza::name(op.type))};
  if (op.n > std::numeric_limits<int>::max()) return Unsupported{"more elements than MPI's integers count"};
  World& world = World::get();
  if (op.ranks != world.ranks())
    return Unsupported{"mpirun started " + std::to_string(world.ranks()) + " processes, the layer has " +
                       std::to_string(op.ranks) + " ranks: mpirun -n " + std::to_string(op.ranks)};
  Plans plans;
  for (const auto& [number, name] : world.algorithms(K)) {
    Collective collective{.kind = K, .type = op.type, .n = op.n, .algorithm = number};
    plans.push_back(std::make_unique<CollectivePlan>(collective, name, op.operands()));
    if (K != op::CollectiveKind::all_reduce) continue;
    collective.in_place = true;
    plans.push_back(std::make_unique<CollectivePlan>(collective, name, op.operands()));
  }
  return plans;
}

class OpenMpi final : public AccompaniedBackend {
 public:
  [[nodiscard]] std::string_view name() const override { return "mpi"; }
  [[nodiscard]] std::string version() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "unknown";
    // "Open MPI v4.1.4, package: ..." or the text of another library: up to the first comma or end of line.
    std::string version(text, static_cast<std::size_t>(length));
    version.resize(std::min(version.find_first_of(",\n"), version.size()));
    constexpr std::string_view begin = "Open MPI v";
    if (version.starts_with(begin)) version.erase(0, begin.size());
    return version;
  }
  [[nodiscard]] std::variant<std::monostate, Unsupported> availability() const override {
    if (started_processes() > 1) return {};
    return Unsupported{"its processes are started by mpirun, for example mpirun -n 4 benanza measure ..."};
  }
  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int threads) const override {
    if (auto state = availability(); auto* why = std::get_if<Unsupported>(&state)) return *why;
    if (threads != 1) return Unsupported{"a process of MPI calls from one thread"};
    if (const auto* const op = std::get_if<op::AllReduce>(&layer)) return plans_of(*op);
    if (const auto* const op = std::get_if<op::ReduceScatter>(&layer)) return plans_of(*op);
    if (const auto* const op = std::get_if<op::AllGather>(&layer)) return plans_of(*op);
    return Unsupported{"no " + std::string(kind(layer)) + " in MPI"};
  }

  [[nodiscard]] bool follows() const override { return started_processes() > 1 && World::get().rank() > 0; }
  [[nodiscard]] bool leads() const override { return started_processes() > 1 && World::get().rank() == 0; }
  void follow() const override { World::get().follow(); }
};

}  // namespace

std::shared_ptr<const Backend> backend() { return std::make_shared<const OpenMpi>(); }

}  // namespace benanza::mpi
