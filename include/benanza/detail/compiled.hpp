// SPDX-License-Identifier: Apache-2.0
// Functions that take long to compile: from a graph to its layers, and from layers and results to bounds. Headers
// define them, so that Benanza can be used without a library. Code that links the libraries benanza::fusion and
// benanza::bounds has BENANZA_COMPILED defined: it reads the declarations alone, and the libraries have the
// definitions.
#pragma once

#ifndef BENANZA_INLINE  // the library defines it as nothing
#define BENANZA_INLINE inline
#endif
