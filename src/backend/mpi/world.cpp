// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include <benanza/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <thread>

namespace benanza::mpi {

namespace {

constexpr int tag = 1;
/// A message from rank 0: whether to continue, the call, the number of calls, whether an input follows.
using Message = std::array<std::int64_t, 8>;

constexpr std::array<const char*, 3> variables{"coll_tuned_allreduce_algorithm", "coll_tuned_reduce_scatter_algorithm",
                                               "coll_tuned_allgather_algorithm"};
const char* variable_of(op::CollectiveKind kind) { return variables[static_cast<std::size_t>(kind)]; }

/// A control variable of the library, found by its name.
struct Variable {
  int index = 0;
  MPI_T_enum names = MPI_T_ENUM_NULL;
};
std::optional<Variable> find_variable(const char* name) {
  Variable found;
  if (MPI_T_cvar_get_index(name, &found.index) != MPI_SUCCESS) return std::nullopt;
  int name_length = 0, text_length = 0, verbosity = 0, bound = 0, scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int status = MPI_T_cvar_get_info(found.index, nullptr, &name_length, &verbosity, &type, &found.names, nullptr,
                                         &text_length, &bound, &scope);
  if (status != MPI_SUCCESS || type != MPI_INT || bound != MPI_T_BIND_NO_OBJECT) return std::nullopt;
  return found;
}

/// Whether an algorithm supports this number of ranks. If it does not, the library substitutes another one.
bool runs_on(op::CollectiveKind kind, const std::string& name, int ranks) {
  if (name == "ignore") return false;
  if (name == "two_proc") return ranks == 2;
  if (name == "neighbor") return ranks % 2 == 0;
  if (kind == op::CollectiveKind::all_gather && name == "recursive_doubling")
    return std::has_single_bit(static_cast<unsigned>(ranks));
  return true;
}

std::int64_t number_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::strtoll(text, nullptr, 10);
}

int as_count(std::int64_t elements) { return static_cast<int>(elements); }

}  // namespace

int started_processes() {
  std::int64_t most = 1;
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) most = std::max(most, number_of(variable));
  return static_cast<int>(std::min<std::int64_t>(most, std::numeric_limits<int>::max()));
}

void check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  static_cast<void>(MPI_Error_string(status, text, &length));
  throw EnvironmentError(std::string(call) + " failed: " + std::string(text, static_cast<std::size_t>(length)));
}

MPI_Datatype datatype(DataType type) {
  switch (type) {
    case DataType::f32: return MPI_FLOAT;
    case DataType::f64: return MPI_DOUBLE;
    case DataType::i32: return MPI_INT32_T;
    case DataType::i64: return MPI_INT64_T;
    default: return MPI_DATATYPE_NULL;
  }
}

World& World::get() {
  static World world;
  return world;
}

World::World() {
  // Communicators choose their algorithms by the values that the variables have when they are created.
  static_cast<void>(setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0));
  int provided = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  check(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), "MPI_T_init_thread");
  check(MPI_Comm_dup(MPI_COMM_WORLD, &control_), "MPI_Comm_dup");
  check(MPI_Comm_rank(control_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(control_, &ranks_), "MPI_Comm_size");
}

World::~World() {
  if (rank_ == 0) {
    const Message end{};
    for (int rank = 1; rank < ranks_; ++rank)
      static_cast<void>(MPI_Send(end.data(), static_cast<int>(end.size()), MPI_INT64_T, rank, tag, control_));
  }
  static_cast<void>(MPI_T_finalize());
  static_cast<void>(MPI_Finalize());
}

std::vector<NamedAlgorithm> World::algorithms(op::CollectiveKind kind) const {
  std::vector<NamedAlgorithm> result{{.number = 0, .name = "decided"}};
  const auto variable = find_variable(variable_of(kind));
  if (!variable || variable->names == MPI_T_ENUM_NULL) return result;
  char name[256];
  int count = 0, length = sizeof name;
  if (MPI_T_enum_get_info(variable->names, &count, name, &length) != MPI_SUCCESS) return result;
  for (int i = 0; i < count; ++i) {
    int number = 0;
    length = sizeof name;
    if (MPI_T_enum_get_item(variable->names, i, &number, name, &length) != MPI_SUCCESS) continue;
    if (number > 0 && runs_on(kind, name, ranks_)) result.push_back({.number = number, .name = name});
  }
  return result;
}

MPI_Comm World::communicator(op::CollectiveKind kind, std::int64_t algorithm) {
  auto [place, is_new] = communicators_.try_emplace({kind, algorithm}, MPI_COMM_NULL);
  if (!is_new) return place->second;
  const auto variable = find_variable(variable_of(kind));
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  const auto choose = [&](int number) {
    if (variable) check(MPI_T_cvar_write(handle, &number), "MPI_T_cvar_write");
  };
  int count = 0;
  if (variable) check(MPI_T_cvar_handle_alloc(variable->index, nullptr, &handle, &count), "MPI_T_cvar_handle_alloc");
  choose(static_cast<int>(algorithm));
  check(MPI_Comm_dup(control_, &place->second), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(place->second, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  choose(0);
  if (variable) static_cast<void>(MPI_T_cvar_handle_free(&handle));
  return place->second;
}

void World::announce(const Collective& collective, const void* input, std::int64_t calls) {
  // The data at an address does not change between calls. A single call, such as a check, always sends it.
  const std::pair held{input, collective.elements_in(ranks_) * bits(collective.type)};
  const bool share = calls == 1 || std::exchange(held_, held) != held;
  held_ = held;
  const Message message{1,
                        static_cast<std::int64_t>(collective.kind),
                        static_cast<std::int64_t>(collective.type),
                        collective.n,
                        collective.algorithm,
                        collective.in_place ? 1 : 0,
                        calls,
                        share ? 1 : 0};
  for (int rank = 1; rank < ranks_; ++rank)
    check(MPI_Send(message.data(), static_cast<int>(message.size()), MPI_INT64_T, rank, tag, control_), "MPI_Send");
  const MPI_Comm group = communicator(collective.kind, collective.algorithm);
  if (share)
    check(MPI_Bcast(const_cast<void*>(input), as_count(collective.elements_in(ranks_)), datatype(collective.type), 0,
                    control_),
          "MPI_Bcast");
  check(MPI_Barrier(group), "MPI_Barrier");
}

void World::call(const Collective& collective, const void* input, void* output) {
  const MPI_Comm group = communicator(collective.kind, collective.algorithm);
  const MPI_Datatype type = datatype(collective.type);
  const int in = as_count(collective.elements_in(ranks_)), out = as_count(collective.elements_out(ranks_));
  switch (collective.kind) {
    case op::CollectiveKind::all_reduce: {
      const void* const from = collective.in_place ? MPI_IN_PLACE : input;
      return check(MPI_Allreduce(from, output, in, type, MPI_SUM, group), "MPI_Allreduce");
    }
    case op::CollectiveKind::reduce_scatter: {
      const std::vector<int> parts(static_cast<std::size_t>(ranks_), out);
      return check(MPI_Reduce_scatter(input, output, parts.data(), type, MPI_SUM, group), "MPI_Reduce_scatter");
    }
    case op::CollectiveKind::all_gather:
      return check(MPI_Allgather(input, in, type, output, in, type, group), "MPI_Allgather");
  }
}

void World::take_part(const Collective& collective, std::int64_t calls, bool share) {
  const auto width = static_cast<std::size_t>(bits(collective.type) / 8);
  const std::size_t in = static_cast<std::size_t>(collective.elements_in(ranks_)) * width;
  const MPI_Comm group = communicator(collective.kind, collective.algorithm);
  if (share) {
    input_.resize(in);
    check(MPI_Bcast(input_.data(), as_count(collective.elements_in(ranks_)), datatype(collective.type), 0, control_),
          "MPI_Bcast");
    const std::size_t places = static_cast<std::size_t>(rank_) * width % std::max<std::size_t>(in, 1);
    std::rotate(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(places), input_.end());
  }
  output_.resize(static_cast<std::size_t>(collective.elements_out(ranks_)) * width);
  if (collective.in_place) std::memcpy(output_.data(), input_.data(), in);
  check(MPI_Barrier(group), "MPI_Barrier");
  for (std::int64_t i = 0; i < calls; ++i) {
    try {
      call(collective, input_.data(), output_.data());
    } catch (const EnvironmentError&) {  // rank 0 gets the same error and reports it
    }
  }
}

void World::follow() {
  // Between calls, the processor belongs to rank 0: a spinning receive would occupy it.
  constexpr std::chrono::microseconds nap{100};
  for (Message message{};;) {
    int there = 0;
    check(MPI_Iprobe(0, tag, control_, &there, MPI_STATUS_IGNORE), "MPI_Iprobe");
    if (there == 0) {
      std::this_thread::sleep_for(nap);
      continue;
    }
    check(MPI_Recv(message.data(), static_cast<int>(message.size()), MPI_INT64_T, 0, tag, control_, MPI_STATUS_IGNORE),
          "MPI_Recv");
    if (message[0] == 0) return;
    take_part({.kind = static_cast<op::CollectiveKind>(message[1]),
               .type = static_cast<DataType>(message[2]),
               .n = message[3],
               .algorithm = message[4],
               .in_place = message[5] != 0},
              message[6], message[7] != 0);
  }
}

}  // namespace benanza::mpi
