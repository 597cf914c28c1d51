// SPDX-License-Identifier: Apache-2.0
// What the environment says of OpenMP is for the program's engines, not for its measurements: thread counts, places and
// polling are the session's to choose. GNU's runtime reads the variables when it is loaded, which is before `main`, and
// with OMP_PROC_BIND binds the initial thread to one processor: the program and the workers that it starts would take
// that for all there is. Functions in .preinit_array run before the constructors of any shared library (System V ABI,
// "Initialization and Termination Functions"), so the variables are taken out of the environment there.
namespace {

/// Not one of the C library, which is not initialised yet, nor may sanitizers take part.
#if defined(__clang__)
#define BENANZA_BEFORE_EVERYTHING __attribute__((no_sanitize("address", "thread", "undefined", "memory")))
#else
#define BENANZA_BEFORE_EVERYTHING __attribute__((no_sanitize("address", "thread", "undefined")))
#endif

BENANZA_BEFORE_EVERYTHING bool begins_with(const char* text, const char* prefix) {
  while (*prefix != '\0' && *text == *prefix) ++text, ++prefix;
  return *prefix == '\0';
}

BENANZA_BEFORE_EVERYTHING void remove_openmp(int, char**, char** environment) {
  char** to = environment;
  for (char** from = environment; *from != nullptr; ++from)
    if (!begins_with(*from, "OMP_") && !begins_with(*from, "GOMP_") && !begins_with(*from, "KMP_")) *to++ = *from;
  *to = nullptr;
}

#if defined(__ELF__)
__attribute__((section(".preinit_array"), used)) void (*const before_libraries)(int, char**, char**) = remove_openmp;
#endif

}  // namespace
