# SPDX-License-Identifier: GPL-3.0-or-later
# Shared by packaging/launch, packaging/test and packaging/bundle: prints its steps, installs what is missing, builds.
# The caller has set -euo pipefail.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '\n==> %s\n' "$*"; }
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo "$@"
    else fail "needs root to install packages: run it as root, install sudo, or install these yourself: $*"
    fi
}

# install_packages build run …: the packages of those kinds that are not there yet.
install_packages() {
    command -v dpkg-query >/dev/null || { say "Not a Debian system: taking the packages of packaging/packages for granted"; return; }
    local missing=() kind package
    while read -r kind package; do
        [[ $kind == \#* || -z $kind ]] && continue
        [[ " $* " == *" $kind "* ]] || continue
        dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
    done < "$root/packaging/packages"
    if [ ${#missing[@]} -eq 0 ]; then say "All packages are installed"; return; fi
    say "Installing ${missing[*]}"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# cuda_toolkit: nvcc and what the CUDA plug-in is built from; from Python packages, into build/cuda-toolkit, where no
# toolkit is installed. cmake/NormscopeCuda.cmake finds it there.
cuda_toolkit() {
    local found packages=build/cuda-toolkit
    found=$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc) || found=$(compgen -G "$root/$packages/lib/python3*/site-packages/nvidia/cu*/bin/nvcc") || true
    if [ -n "$found" ]; then say "CUDA's compiler is $found"; return; fi
    install_packages cuda
    say "Getting CUDA's compiler and cuBLAS as Python packages into $packages (a download of 600 MB)"
    python3 -m venv "$root/$packages"
    "$root/$packages/bin/pip" install -q --disable-pip-version-check \
        'nvidia-cuda-nvcc==13.*' 'nvidia-cuda-runtime==13.*' 'nvidia-cuda-cccl==13.*' 'nvidia-cublas==13.*'
}

# build PRESET [TARGET…]: configures and builds with one job a core (each needs up to 1.5 GiB).
build() {
    local preset=$1; shift
    say "Configuring ($preset)"
    (cd "$root" && cmake --preset "$preset" -Wno-dev >"$root/build-$preset.log" 2>&1) \
        || { cat "$root/build-$preset.log" >&2; fail "the configuration failed"; }
    rm -f "$root/build-$preset.log"
    say "Building ($preset)"
    (cd "$root" && cmake --build --preset "$preset" -j "$(nproc)" "$@")
}
