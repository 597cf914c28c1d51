// SPDX-License-Identifier: Apache-2.0
// mpi: collectives of several processes with Open MPI, on the processor: MPI_Allreduce, MPI_Reduce_scatter and
// MPI_Allgather with every algorithm that the library's component `tuned` names, and with the library's own choice. The
// processes are those that mpirun started; the first one measures.
#pragma once

#include <memory>

namespace benanza {
class Backend;
}

namespace benanza::mpi {

/// An AccompaniedBackend (plan/accompanied.hpp). It is available if mpirun started at least two processes. MPI is
/// initialised by the first call that needs it and finalised when the program ends, which also ends the processes that
/// follow.
[[nodiscard]] std::shared_ptr<const Backend> backend();

}  // namespace benanza::mpi
