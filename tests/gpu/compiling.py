# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles the CUDA plug-in and the program tests/gpu/operations for the card of this machine, with nvcc and g++ alone.
Each result is named, or why there is none: one that fails does not cost the other."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import site
import subprocess
import sys
import sysconfig
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CUDA = ROOT / "core/backend/cuda"
ARCHITECTURES = ["80", "86", "89", "90", "100", "120"]
KERNELS = ["ops/cuda_ops_float.cpp", "ops/cuda_ops_double.cpp", "compact/cuda_compact_ops.cpp", "rounding_gemm.cpp",
           "gpu/lt_gemm.cpp",           "tiled/tiled_float.cpp", "tiled/tiled_bf16.cpp", "tiled/tiled_fp16.cpp"]
WITHOUT_KERNELS = ["gpu/cuda_device.cpp", "gpu/plugin.cpp", "launch/replicas.cpp"]
HOST = ["launch/check.cpp", "gpu/cublas_lt.cpp", "gpu/caching_allocator.cpp", "gpu/lt_plans.cpp", "gpu/pinned_copies.cpp",
        "gpu/stream_graph.cpp"]
REFERENCE = ["core/backend/cuda/ops/cuda_ops_double.cpp", "core/backend/grid/emulator.cpp", "core/backend/grid/fiber.cpp",
             "core/backend/grid/memory.cpp", "core/backend/grid/tensor_core.cpp", "core/backend/plugin/load_cuda.cpp",
             "core/backend/plugin/open_plugin.cpp", "tests/gpu/operations.cpp"]
ONE_RANK = ["core/backend/nccl/nccl_communicator.cpp", "core/backend/nccl/nccl_functions.cpp",
            "core/backend/cuda/launch/check.cpp", "tests/gpu/one_rank.cpp"]


class Failed(Exception):
    """One line, or a command and what its compiler said."""


def tool(name, folder="/usr/local/cuda/bin"):
    return shutil.which(name) or shutil.which(name, path=folder)


def package_folders(name):
    """Folders `name` of NVIDIA's Python packages, of this Python and of the first python3 on the PATH."""
    roots = {sysconfig.get_paths()["purelib"], *site.getsitepackages()}
    other = shutil.which("python3")
    if other and os.path.realpath(other) != os.path.realpath(sys.executable):
        done = subprocess.run([other, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
                              capture_output=True, text=True)
        roots.add(done.stdout.strip())
    return sorted(str(folder) for root in roots if root for folder in pathlib.Path(root).glob(f"nvidia/*/{name}"))


def headers(nvcc):
    """Folders in front of all others: that of nvcc, then those of Python packages, where cublasLt.h and nccl.h often are."""
    own = pathlib.Path(nvcc).resolve().parents[1] / "include"
    found = [str(own), *package_folders("include")]
    return [f for f in found if any((pathlib.Path(f) / h).exists() for h in ("cublasLt.h", "cuda_runtime.h", "nccl.h"))]


def library_path():
    """For LD_LIBRARY_PATH: the machine's own folders first, then where cuBLASLt, CUPTI and NCCL are found."""
    given = [f for f in os.environ.get("LD_LIBRARY_PATH", "").split(":") if f]
    folders = ["/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64", *package_folders("lib")]
    names = ("libcublasLt.so.1*", "libcupti.so.1*", "libnccl.so.2")
    found = [f for f in folders for name in names if list(pathlib.Path(f).glob(name))]
    return ":".join([*given, *dict.fromkeys(f for f in found if f not in given)])


def capability():
    """Of the first card, as nvcc writes it; None where nvidia-smi does not tell."""
    smi = shutil.which("nvidia-smi")
    if not smi:
        return None
    done = subprocess.run([smi, "--query-gpu=compute_cap", "--format=csv,noheader"], capture_output=True, text=True)
    first = done.stdout.split("\n")[0].strip().replace(".", "")
    return first if done.returncode == 0 and first.isdigit() else None


def called(command, deadline):
    """What the command says. Failed where it fails or takes longer than to `deadline` (time.monotonic)."""
    left = max(deadline - time.monotonic(), 1)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=left)
    except subprocess.TimeoutExpired:
        raise Failed(f"not done after {left:.0f} s: {' '.join(command[-3:])}") from None
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout + done.stderr


def plugin_commands(folder, nvcc, architectures):
    """Commands that compile, and the one that links the plug-in."""
    include = [word for f in headers(nvcc) for word in ("-isystem", f)]
    hidden = ["-fvisibility=hidden", "-fvisibility-inlines-hidden"]
    commands, objects = [], []
    for source in KERNELS + WITHOUT_KERNELS + HOST:
        made = str(folder / f"gpu_{pathlib.Path(source).stem}.o")
        objects.append(made)
        if source in HOST:
            command = ["g++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-fPIC", f"-I{ROOT}", *hidden, *include]
        else:
            made_for = architectures if source in KERNELS else architectures[:1]
            code = [w for a in made_for for w in ("-gencode", f"arch=compute_{a},code=sm_{a}")]
            command = [nvcc, "-std=c++20", "-x", "cu", "-O3", "--expt-relaxed-constexpr", "-lineinfo",
                       "-Xcompiler", ",".join(["-fPIC"] + hidden), *code, f"-I{ROOT}", *include]
        commands.append([*command, "-c", str(CUDA / source), "-o", made])
    return commands, [nvcc, "-shared", "-cudart", "static", "-o", str(folder / "libnormscope_cuda.so"), *objects, "-ldl"]


def program_commands(folder):
    commands, objects = [], []
    for source in REFERENCE:
        objects.append(str(folder / f"host_{pathlib.Path(source).stem}.o"))
        commands.append(["g++", "-std=c++20", "-O2", "-Wall", "-Wextra", f"-I{ROOT}", "-c", str(ROOT / source), "-o",
                         objects[-1]])
    return commands, ["g++", "-o", str(folder / "operations"), *objects, "-ldl", "-lpthread"]


def launches_command(folder, nvcc, architectures):
    code = [w for a in architectures for w in ("-gencode", f"arch=compute_{a},code=sm_{a}")]
    return [nvcc, "-std=c++20", "-O3", *code, "-o", str(folder / "launches"), str(ROOT / "tests/gpu/launches.cu")]


def one_rank_commands(folder, nvcc):
    include = headers(nvcc)
    if not any((pathlib.Path(f) / "nccl.h").exists() for f in [*include, "/usr/include", "/usr/local/include"]):
        raise Failed("no nccl.h")
    commands, objects = [], []
    for source in ONE_RANK:
        objects.append(str(folder / f"rank_{pathlib.Path(source).stem}.o"))
        commands.append(["g++", "-std=c++20", "-O2", "-Wall", "-Wextra", f"-I{ROOT}", *(w for f in include for w in ("-isystem", f)),
                         "-c", str(ROOT / source), "-o", objects[-1]])
    return commands, [nvcc, "-cudart", "static", "-o", str(folder / "one_rank"), *objects, "-ldl"]


def compiled(folder, architectures, deadline):
    """(errors, skipped, warnings): errors, and what this machine has nothing for, by the file that is then missing:
    libnormscope_cuda.so, operations, launches or one_rank."""
    folder.mkdir(parents=True, exist_ok=True)
    errors, skipped, said = {}, {}, []
    groups = {"operations": program_commands(folder)}
    nvcc = tool("nvcc")
    if nvcc:
        groups["libnormscope_cuda.so"] = plugin_commands(folder, nvcc, architectures)
        groups["launches"] = ([], launches_command(folder, nvcc, architectures))
        try:
            groups["one_rank"] = one_rank_commands(folder, nvcc)
        except Failed as error:
            skipped["one_rank"] = str(error)
    else:
        errors["libnormscope_cuda.so"] = errors["launches"] = errors["one_rank"] = "no nvcc on the PATH or in /usr/local/cuda/bin"
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        # The kernels take longest: they begin first.
        for name in sorted(groups, key="libnormscope_cuda.so".__ne__):
            groups[name] = ([pool.submit(called, c, deadline) for c in groups[name][0]], groups[name][1])
        for name, (parts, link) in groups.items():
            try:
                said += [part.result() for part in parts]
                said.append(called(link, deadline))
            except Failed as error:
                errors[name] = str(error)
    warnings = [line for text in said for line in text.splitlines() if re.search(r"\bwarning\b", line)]
    return errors, skipped, warnings
