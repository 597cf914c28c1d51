// SPDX-License-Identifier: Apache-2.0
// Functions that take long to compile: what every operator answers, from a graph to its layers, and from layers and
// results to bounds. They are defined in headers, so that Benanza can be used without a library. Code that links
// benanza::model, benanza::fusion or benanza::bounds has BENANZA_COMPILED_MODEL, _FUSION or _BOUNDS defined: it sees
// only the declarations, and the library contains the definitions.
#pragma once

#ifndef BENANZA_INLINE  // the library defines it as nothing
#define BENANZA_INLINE inline
#endif
