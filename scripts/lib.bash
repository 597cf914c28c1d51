# SPDX-License-Identifier: Apache-2.0
#
# What scripts/run and scripts/test share: the dependencies, and configuring and building a preset quietly.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# prepare [OPTION]: runs scripts/bootstrap with it; sets prefix, and PATH where bootstrap brought a tool.
prepare() {
  local part parts
  prefix=$("$root/scripts/bootstrap" "$@")
  IFS=';' read -ra parts <<< "$prefix"
  for part in "${parts[@]}"; do
    [ ! -d "$part/bin" ] || PATH=$part/bin:$PATH
  done
}

# quietly LOG COMMAND...: the output goes to build/LOG; a terminal shows its latest line, a failure its end.
quietly() {
  local log=$root/build/$1
  shift
  mkdir -p "$root/build"
  if ! "$@" 2>&1 < /dev/null | tee "$log" | show_latest_line; then
    tail -n 60 "$log" >&2
    echo "failed: $*; the whole log is $log" >&2
    exit 1
  fi
}

show_latest_line() {
  local line width
  if [ ! -t 2 ]; then
    cat > /dev/null
    return
  fi
  width=$(stty size <&2 | cut -d' ' -f2)
  [ "$width" -gt 1 ] || width=80
  while IFS= read -r line; do
    printf '\r\033[K%s' "${line:0:width - 1}" >&2
  done
  printf '\r\033[K' >&2
}

# configure PRESET OPTION...
configure() {
  local preset=$1 options=()
  shift
  command -v ccache > /dev/null && options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  quietly "$preset-configure.log" \
    cmake -S "$root" --preset "$preset" -DCMAKE_PREFIX_PATH="$prefix" "${options[@]}" "$@"
}

# build PRESET OPTION...
build() {
  quietly "$1-build.log" cmake --build "$root/build/$1" "${@:2}"
}
