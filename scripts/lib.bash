# SPDX-License-Identifier: Apache-2.0
#
# What the scripts share: the dependencies, and configuring and building a preset quietly.

export CCACHE_DEPEND=1 # the compiler's own list of headers: an empty cache costs no second run of the preprocessor
export CCACHE_SLOPPINESS=pch_defines,time_macros # tests use a precompiled header, which ccache otherwise refuses; no source reads the time

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
steps=$root/build/steps.tsv # what each step took

# stage NAME COMMAND...: adds a line to the steps, as scripts/timed does, but runs the command, or function, in this shell.
stage() {
  local name=$1 begin=$EPOCHREALTIME before after end
  shift
  mkdir -p "$root/build"
  before=$(mktemp) after=$(mktemp)
  times > "$before"
  "$@"
  times > "$after"
  end=$EPOCHREALTIME
  awk -F '[ms ]+' -v clock=$((${end/./} - ${begin/./})) -v name="$name" '
    FNR == 2 { user[NR > 2] = $1 * 60 + $2; system_[NR > 2] = $3 * 60 + $4 }
    END { printf "%.3f\t%.3f\t%.3f\t%s\n", clock / 1e6, user[1] - user[0], system_[1] - system_[0], name }' "$before" "$after" >> "$steps"
  rm "$before" "$after"
}

# prepare [OPTION]: runs scripts/bootstrap with it; sets prefix, and PATH where bootstrap brought a tool.
prepare() {
  local part parts
  prefix=$("$root/scripts/bootstrap" "$@")
  IFS=';' read -ra parts <<< "$prefix"
  for part in "${parts[@]}"; do
    [ ! -d "$part/bin" ] || PATH=$part/bin:$PATH
  done
}

# quietly LOG COMMAND...: the output goes to the log; standard error gets one line that says how far it is, upon failure the log's end.
quietly() {
  local log=$1 status
  shift
  mkdir -p "$(dirname "$log")"
  set +e
  (set -e; "$@") 2>&1 < /dev/null | tee "$log" | show_progress
  status=${PIPESTATUS[0]}
  set -e
  if [ "$status" -ne 0 ]; then
    tail -n 60 "$log" >&2
    echo "failed: $*; the whole log is $log" >&2
    exit 1
  fi
}

# Reads ninja's output and says `[ 45/180] about 4 min left`, supposing that the steps to come take as long as those before. A terminal gets
# one line, written anew for each step; anything else gets a line every half minute.
show_progress() {
  local line text width=0 next=$((SECONDS + 30)) first=0 begin finished all
  [ ! -t 2 ] || width=$(stty size <&2 | cut -d' ' -f2)
  while IFS= read -r line; do
    text=$line
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]' ' ]]; then
      finished=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
      [ $first -gt 0 ] || first=$finished begin=$SECONDS
      printf -v text '[%*d/%d] %s' ${#all} "$finished" "$all" "$(time_left $((SECONDS - begin)) $((finished - first)) $((all - finished)))"
    elif [ ! -t 2 ]; then
      continue
    fi
    if [ -t 2 ]; then
      printf '\r\033[K%s' "${text:0:width > 1 ? width - 1 : 79}" >&2
    elif [ $SECONDS -ge $next ]; then
      echo "$text" >&2
      next=$((SECONDS + 30))
    fi
  done
  [ ! -t 2 ] || printf '\r\033[K' >&2
}

# time_left SECONDS STEPS TO_COME: nothing after fewer than five steps, which tell too little.
time_left() {
  local left
  [ "$2" -ge 5 ] || return 0
  left=$(($1 * $3 / $2))
  if [ $left -lt 60 ]; then
    echo 'less than 1 min left'
  else
    echo "about $(((left + 30) / 60)) min left"
  fi
}

has_gpu() { nvidia-smi -L 2> /dev/null | grep -q '^GPU '; }

# CUDA code takes minutes for each architecture: compile it for the GPU, which CMake finds, or for one architecture where there is none.
one_architecture() { if ! has_gpu; then echo -DCMAKE_CUDA_ARCHITECTURES=90; fi; }

# configure PRESET OPTION...
configure() {
  local preset=$1 options=(-UCMAKE_CUDA_ARCHITECTURES -UONNX_DIR) # an earlier choice is not a default
  shift
  options+=(-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES="$root/cmake/TimedSteps.cmake")
  command -v ccache > /dev/null && options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  quietly "$root/build/$preset-configure.log" \
    cmake -S "$root" --preset "$preset" -DCMAKE_PREFIX_PATH="$prefix" "${options[@]}" "$@"
}

# build PRESET OPTION...: as many compilers as processors; each takes up to a gigabyte.
build() {
  quietly "$root/build/$1-build.log" cmake --build "$root/build/$1" --parallel "$(nproc)" "${@:2}"
}
