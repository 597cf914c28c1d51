// SPDX-License-Identifier: Apache-2.0
// Functions that take long to compile: from a graph to its layers, and from layers and results to bounds. They are
// defined in headers, so that Benanza can be used without a library. Code that links the libraries benanza::fusion and
// benanza::bounds has BENANZA_COMPILED defined: it sees only the declarations, and the libraries contain the
// definitions.
#pragma once

#ifndef BENANZA_INLINE  // the library defines it as nothing
#define BENANZA_INLINE inline
#endif
