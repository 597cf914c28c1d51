// SPDX-License-Identifier: Apache-2.0
// How long bodies are compiled: once, or in each file that uses them. A header declares a function without `inline`,
// and ends by including the file of impl/ that defines it with BENANZA_INLINE. Code that links a library of Benanza has
// BENANZA_COMPILED defined: it reads only the declarations, and a source of the library includes the file of impl/.
#pragma once

#ifdef BENANZA_COMPILED
#define BENANZA_INLINE
#else
#define BENANZA_INLINE inline
#endif
