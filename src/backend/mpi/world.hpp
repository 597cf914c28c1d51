// SPDX-License-Identifier: Apache-2.0
// World: the processes that mpirun started, and what the first of them has the others do.
#pragma once

#include <benanza/model/data_type.hpp>
#include <benanza/op/collective.hpp>

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace benanza::mpi {

/// The number of processes that the launcher started together, according to the variables that it sets: Open MPI's
/// mpirun, and launchers that follow PMI. 1 without a launcher. MPI is not initialised for this.
[[nodiscard]] int started_processes();

/// One call, the same on all ranks.
struct Collective {
  op::CollectiveKind kind{};
  DataType type{};
  std::int64_t n = 0;          ///< elements of the whole tensor
  std::int64_t algorithm = 0;  ///< the library's number; 0 for its own choice
  bool in_place = false;

  [[nodiscard]] std::int64_t elements_in(int ranks) const {
    return kind == op::CollectiveKind::all_gather ? n / ranks : n;
  }
  [[nodiscard]] std::int64_t elements_out(int ranks) const {
    return kind == op::CollectiveKind::reduce_scatter ? n / ranks : n;
  }
};

/// One of the library's algorithms for a collective.
struct NamedAlgorithm {
  std::int64_t number = 0;
  std::string name{};
};

class World {
 public:
  /// Initialises MPI on the first call. Throws EnvironmentError if that fails.
  [[nodiscard]] static World& get();
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  /// The algorithms that the library lists for its component `tuned`, except those that cannot run on this number of
  /// ranks. The library's own choice is number 0 and comes first; it is the only one if the library lists none.
  [[nodiscard]] std::vector<NamedAlgorithm> algorithms(op::CollectiveKind kind) const;

  /// On rank 0: the other ranks make this call `calls` times, with `input` rotated by their rank. They receive the
  /// input before a single call, and if its address or size has changed since the last announcement. Returns when all
  /// ranks are about to begin.
  void announce(const Collective& collective, const void* input, std::int64_t calls);
  /// One call. Throws EnvironmentError with the library's text.
  void call(const Collective& collective, const void* input, void* output);
  /// On other ranks: executes what rank 0 announces until rank 0 ends.
  void follow();

 private:
  World();
  /// The communicator whose calls of this kind use this algorithm. All ranks create it at the same time.
  [[nodiscard]] MPI_Comm communicator(op::CollectiveKind kind, std::int64_t algorithm);
  void take_part(const Collective& collective, std::int64_t calls, bool share);

  int rank_ = 0, ranks_ = 1;
  MPI_Comm control_ = MPI_COMM_NULL;
  std::map<std::pair<op::CollectiveKind, std::int64_t>, MPI_Comm> communicators_{};
  std::pair<const void*, std::int64_t> held_{};  // on rank 0: the input that the others have, and its bits
  std::vector<std::byte> input_{}, output_{};    // buffers of a rank other than 0
};

/// Throws EnvironmentError if the status of a call is not success.
void check(int status, const char* call);

/// MPI's name for a type that it can sum; MPI_DATATYPE_NULL for others.
[[nodiscard]] MPI_Datatype datatype(DataType type);

}  // namespace benanza::mpi
