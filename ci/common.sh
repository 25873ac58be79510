# Sourced by the scripts of this folder: what they share. Each step does nothing where its work is done already.
# shellcheck shell=bash disable=SC2034

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
# nproc minds OpenMP's variables, which are about the programs that are built here.
jobs=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)

# Open MPI: root may run it (containers), ranks may outnumber cores. OpenMP: ranks share cores, so threads are not pinned.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMP_PROC_BIND=${OMP_PROC_BIND:-false}

packages_build=(g++ cmake ninja-build make ccache git ca-certificates debian-archive-keyring openmpi-bin libopenmpi-dev
  libopenblas-openmp-dev libfftw3-dev libhdf5-dev libdnnl-dev libxc-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev
  libpugixml-dev zlib1g-dev liblz4-dev liblzma-dev patchelf python3)
packages_plot=(python3 python3-matplotlib python3-h5py)
packages_python=(python3-dev python3-venv)
packages_wheel=(mmdebstrap util-linux)
# VTK is what tests of external faces compare with.
packages_test=(libgtest-dev libbenchmark-dev libmpfr-dev libscalapack-openmpi-dev libvtk9-dev iproute2 util-linux)
packages_lint=(python3 clang-format)
# NumPy is what the Python package imports.
packages_docs=(doxygen furo python3-sphinx python3-myst-parser python3-breathe python3-sphinx-copybutton python3-numpy)
# clang-tidy 14, Debian 12's own, crashes on C++20 and finds errors in it that are none.
packages_tidy=(clang-tidy-19 libomp-19-dev)
packages_fuzz=(clang libclang-rt-dev libomp-dev)

say() { printf '== %s\n' "$*"; }
die() { printf '%s: %s\n' "$(basename -- "$0")" "$*" >&2; exit 1; }
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; } # the comment that opens the calling script

as_root() {
  if [[ $EUID -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

# install_packages NAME...: those of Debian's packages that are missing. Elsewhere it is CMake that says what is missing.
install_packages() {
  if ! command -v apt-get >/dev/null; then
    say "no apt here, so have what Debian calls: $*"
    return
  fi
  local package missing=()
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  [[ $EUID -eq 0 ]] || command -v sudo >/dev/null || die "missing, and no sudo to install them: ${missing[*]}"
  say "installing ${missing[*]}"
  as_root apt-get -qq update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "${missing[@]}" >/dev/null ||
    die "apt could not install them"
}

# debian_mirror: the mirror that the system itself uses, in whichever format its sources are written; nothing without one.
debian_mirror() {
  apt-get indextargets --format "\$(RELEASE) \$(COMPONENT) \$(REPO_URI)" 'Created-By: Packages' |
    awk -v codename="$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-sid}")" '
      $2 == "main" && ($1 == codename || $1 ~ /^(oldstable|stable|testing|unstable|sid)$/) { print $3; exit }'
}

# configure PRESET FOLDER [ARGUMENT...]: code for this machine, with the user's Kokkos where CMake finds one that serves
# (Kokkos_ROOT, CMAKE_PREFIX_PATH or CMAKE_TOOLCHAIN_FILE in the environment), else with Debian's in a private prefix.
configure() {
  local preset=$1 build=$2 arguments wanted
  shift 2
  arguments=(--preset "$preset" -B "$build" -DHEDDLE_ARCH=native)
  # A build from nothing takes two thirds of the time; the preset by itself compiles each file, for who changes a few.
  case $preset in openmp | cuda | hip) arguments+=(-DHEDDLE_UNITY=ON) ;; esac
  if command -v ccache >/dev/null; then
    arguments+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
  fi
  arguments+=("$@")
  # With unchanged arguments the build itself notices changes of CMake files.
  wanted=$(printf '%s\n' "${arguments[@]}" "${Kokkos_ROOT-}" "${CMAKE_PREFIX_PATH-}" "${CMAKE_TOOLCHAIN_FILE-}" "${CXX-}")
  if [[ -f $build/build.ninja && -f $build/configured && $(<"$build/configured") == "$wanted" ]]; then
    return
  fi

  if [[ -z ${CMAKE_TOOLCHAIN_FILE-} && $preset != cuda && $preset != hip ]] && ! find_kokkos; then
    "$root/ci/kokkos-debian" "$root/build/kokkos" || die "no Kokkos"
    arguments+=("-DKokkos_ROOT=$root/build/kokkos")
  fi
  say "configuring ${build#"$root/"}"
  mkdir -p -- "$build"
  rm -f -- "$build/CMakeCache.txt" "$build/configured"
  (cd -- "$root" && cmake "${arguments[@]}") >"$build/configure.log" 2>&1 ||
    { cat -- "$build/configure.log" >&2; die "CMake could not configure"; }
  printf '%s\n' "$wanted" >"$build/configured"
}

# find_kokkos: whether CMake finds a Kokkos that serves.
find_kokkos() {
  local probe status=0
  probe=$(mktemp -d)
  cat >"$probe/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.22)
project(probe LANGUAGES CXX)
find_package(Kokkos REQUIRED)
if(Kokkos_VERSION VERSION_LESS 4.6 OR Kokkos_VERSION VERSION_GREATER_EQUAL 6)
  message(FATAL_ERROR "Kokkos ${Kokkos_VERSION}")
endif()
EOF
  cmake -G Ninja -S "$probe" -B "$probe/build" >/dev/null 2>&1 || status=1
  rm -rf -- "$probe"
  return "$status"
}

# python_environment FOLDER PACKAGE...: a virtual environment of Python's with these packages; false where there is none.
python_environment() {
  local folder=$1
  shift
  [[ ! -f $folder/made || $(<"$folder/made") != "$*" ]] || return 0
  say "making ${folder#"$root/"}${*:+ with $*}"
  python3 -m venv "$folder" || return 1
  [[ $# -eq 0 ]] || "$folder/bin/python" -m pip install --quiet --retries 1 "$@" || return 1
  printf '%s\n' "$*" >"$folder/made"
}

# build FOLDER [ARGUMENT...]: with further arguments for CMake.
build() {
  # ccache takes a precompiled header for what it was when it was compiled.
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS-pch_defines,time_macros}
  say "building ${1#"$root/"}"
  cmake --build "$1" --parallel "$jobs" "${@:2}"
}

# require_planted_mistake BUILD OBJECT PATTERN: the command that checks OBJECT has to find a kernel that calls a host's
# function (HIP) and lies in a private member (CUDA), with a message like PATTERN; if the device's side were not looked at,
# nothing would fail.
require_planted_mistake() {
  local build=$1 command seen
  cat >"$build/planted.cpp" <<'PLANTED'
#include <Kokkos_Core.hpp>
void host_only();
class Planted {
  void planted() {
    Kokkos::parallel_for("planted", 1, KOKKOS_LAMBDA(int) { host_only(); });
  }
};
PLANTED
  command=$(ninja -C "$build" -t commands "$2" | tail -n 1)
  command=${command%% -c *}
  # OBJECT itself stays as it is.
  seen=$(cd -- "$build" && bash -c "${command/ -o $2/ -o planted.o} -c planted.cpp" 2>&1) || true
  grep -qE -- "$3" <<<"${seen//$'\n'/ }" || die "the device side is not checked: a planted mistake gave '$seen'"
}

# first_errors LOG: of each source that failed in Ninja's log, the first errors.
first_errors() {
  awk '
    /^\[/ { left = 0 }
    /^FAILED: / { sub(/\[code=[0-9]*\] /, ""); sub(/CMakeFiles\/[^\/]*\.dir\//, "", $2); sub(/\.o$/, "", $2); print $2; left = 3 }
    left && /(: |\): )error/ { print "  " $0; --left }' "$1"
}
