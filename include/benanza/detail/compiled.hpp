// SPDX-License-Identifier: Apache-2.0
// Functions that take long to compile: from a graph to its layers. Headers define them, so that Benanza can be used
// without a library. Code that links the library benanza::fusion has BENANZA_COMPILED defined: it reads their
// declarations alone, and the library has their definitions.
#pragma once

#ifndef BENANZA_INLINE  // the library defines it as nothing
#define BENANZA_INLINE inline
#endif
