"""Finds librarebit and declares its functions.

RAREBIT_LIBRARY names the library's file, or the folder that it is in; else it is the one inside
this package, else the system's. librarebit-io (files) lies beside it, or is the system's, or is
not there.
"""

from __future__ import annotations

import _ctypes
import ctypes
import ctypes.util
import functools
import os
import sys
from ctypes import CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, \
    c_int64, c_size_t, c_uint32, c_void_p
from pathlib import Path
from typing import Any, Iterator, Optional

SUFFIX = ".dylib" if sys.platform == "darwin" else ".so"


class Error:
    """rb_error of rarebit/context.h."""

    OK, MEMORY, ARGUMENT, FILE, FORMAT, DATA, NUMERIC, UNSUPPORTED, INTERRUPTED, STOPPED = range(10)


class Kind:
    """rb_option_kind of rarebit/options.h."""

    INTEGER, NUMBER, CHOICE, FLAG, TEXT, VALUES, SECONDS = range(7)


FLOAT32, FLOAT64 = 0, 1


class CProgress(Structure):
    """rb_progress."""

    _fields_ = [("iteration", c_int64), ("iterations", c_int64), ("objective", c_double),
                ("estep_objective", c_double), ("seconds", c_double), ("elapsed", c_double),
                ("remaining", c_double), ("metric_names", POINTER(c_char_p)),
                ("metrics", POINTER(c_double)), ("what", c_char_p)]


class COption(Structure):
    """rb_option."""

    _fields_ = [("name", c_char_p), ("letter", c_char), ("kind", c_int), ("offset", c_size_t),
                ("fallback", c_char_p), ("minimum", c_double), ("maximum", c_double),
                ("choices", c_char_p), ("argument", c_char_p), ("help", c_char_p),
                ("level", c_int), ("needs", c_char_p), ("group", c_char_p), ("word", c_char_p)]


class CMethod(Structure):
    """The beginning of rb_method."""

    _fields_ = [("size", c_size_t), ("name", c_char_p), ("title", c_char_p), ("options", c_void_p),
                ("options_size", c_size_t), ("own", c_void_p), ("code_name", c_char_p),
                ("rules", c_void_p), ("start_options", c_void_p), ("takes_batches", c_bool),
                ("centre", c_int), ("missing", c_bool), ("sparser", c_char_p),
                ("denser", c_char_p), ("non_negative", c_bool),
                ("before_fitting", c_void_p * 7),  # resolve to engines
                ("state_size", c_size_t),
                ("fitting", c_void_p * 9),  # start to objective
                ("metric_names", POINTER(c_char_p))]


class CState(Structure):
    """rb_state."""

    _fields_ = [("size", c_size_t), ("sample", c_int64), ("log_evidence", c_double),
                ("count", c_int64), ("causes", POINTER(c_int64)), ("values", POINTER(c_double))]


class CLabelled(Structure):
    """rb_labelled."""

    _fields_ = [("size", c_size_t), ("source", c_void_p), ("n_classes", c_int64),
                ("class_of", c_void_p), ("names", POINTER(c_char_p)), ("values", c_void_p),
                ("n_values", c_int64)]


class CScores(Structure):
    """rb_net_scores."""

    _fields_ = [("size", c_size_t), ("n_outputs", c_int64), ("samples", c_int64),
                ("errors", c_int64), ("error_rate", c_double), ("low", c_double),
                ("high", c_double), ("log_loss", c_double), ("calibration_error", c_double),
                ("mean_squared_error", c_double), ("confusion", POINTER(c_int64))]


class CUnitWeights(Structure):
    """rb_unit_weights."""

    _fields_ = [("units", c_int64), ("weights", c_void_p), ("bias", c_void_p)]


class CReport(Structure):
    """rb_report."""

    _fields_ = [("size", c_size_t), ("title", c_char_p), ("model", c_char_p), ("data", c_char_p),
                ("labels", c_char_p), ("sets", c_char_p), ("covariates", c_char_p),
                ("selection", c_char_p), ("warnings", POINTER(c_char_p)),
                ("notes", POINTER(c_char_p))]


class CDevice(Structure):
    """rb_cl_info."""

    _fields_ = [("size", c_size_t), ("name", c_char * 128), ("platform", c_char * 128),
                ("driver", c_char * 128), ("memory", c_double), ("gpu", c_bool)]


class CDenoising(Structure):
    """rb_denoising."""

    _fields_ = [("size", c_size_t), ("height", c_int64), ("width", c_int64),
                ("channels", c_int64), ("patches", c_int64), ("psnr_before", c_double),
                ("psnr_after", c_double)]


ProgressFn = CFUNCTYPE(c_int, POINTER(CProgress), c_void_p)
LogFn = CFUNCTYPE(None, c_int, c_char_p, c_void_p)
SourceFn = CFUNCTYPE(c_int, c_void_p, c_int64, c_int64, c_void_p)
StateFn = CFUNCTYPE(c_int, c_void_p, POINTER(CState))
CsrSourceFn = CFUNCTYPE(c_int, c_void_p, c_int64, c_int64, POINTER(c_void_p), POINTER(c_void_p),
                        POINTER(c_void_p))

P, S, I, N, F, B = c_void_p, c_char_p, c_int64, c_size_t, c_double, c_bool  # short, for the table
ERROR = c_int

# What each function gives and takes, as the public headers have it.
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "rb_version": (S, []),
    "rb_build_info": (S, [P, S]),
    "rb_context_new": (ERROR, [POINTER(P)]),
    "rb_context_free": (None, [P]),
    "rb_context_error": (S, [P]),
    "rb_context_fail": (ERROR, [P, ERROR, S]),
    "rb_context_set_threads": (ERROR, [P, c_int]),
    "rb_context_set_device": (ERROR, [P, P]),
    "rb_context_set_comm": (ERROR, [P, P]),
    "rb_context_on_progress": (None, [P, ProgressFn, P]),
    "rb_context_on_log": (None, [P, LogFn, P]),
    "rb_context_set_min_shared": (ERROR, [P, F]),
    "rb_context_stop": (None, [P]),
    "rb_context_method": (POINTER(CMethod), [P, I]),
    "rb_status_name": (S, [c_int]),
    "rb_options_new": (ERROR, [P, S, POINTER(P)]),
    "rb_options_free": (None, [P]),
    "rb_options_add": (ERROR, [P, P, P]),
    "rb_options_set": (ERROR, [P, P, S, S]),
    "rb_options_set_integer": (ERROR, [P, P, S, I]),
    "rb_options_set_number": (ERROR, [P, P, S, F]),
    "rb_options_set_matrix": (ERROR, [P, P, S, P]),
    "rb_options_get": (I, [P, S, S, N]),
    "rb_options_text": (S, [P, S]),
    "rb_options_row": (ERROR, [P, I, POINTER(COption), N]),
    "rb_options_range": (None, [POINTER(COption), S, N]),
    "rb_matrix_dense": (ERROR, [P, c_int, I, I, P, I, I, POINTER(P)]),
    "rb_matrix_csr": (ERROR, [P, c_int, I, I, P, P, P, POINTER(P)]),
    "rb_matrix_csr32": (ERROR, [P, c_int, I, I, P, P, P, POINTER(P)]),
    "rb_matrix_free": (None, [P]),
    "rb_source_from_matrix": (ERROR, [P, P, POINTER(P)]),
    "rb_source_from_callback": (ERROR, [P, c_int, I, I, SourceFn, P, POINTER(P)]),
    "rb_source_from_csr_callback": (ERROR, [P, c_int, I, I, CsrSourceFn, P, POINTER(P)]),
    "rb_source_from_csc": (ERROR, [P, c_int, I, I, P, P, P, POINTER(P)]),
    "rb_source_set_sample_names": (ERROR, [P, P, POINTER(S), I]),
    "rb_source_set_feature_names": (ERROR, [P, P, POINTER(S), I]),
    "rb_source_free": (None, [P]),
    "rb_source_samples": (I, [P]),
    "rb_source_features": (I, [P]),
    "rb_source_type": (c_int, [P]),
    "rb_source_sample_name": (S, [P, I]),
    "rb_source_feature_name": (S, [P, I]),
    "rb_source_set_numbers": (ERROR, [P, P, S, P, I]),
    "rb_source_set_groups": (ERROR, [P, P, S, POINTER(S), I]),
    "rb_source_slice": (ERROR, [P, P, I, I, POINTER(P)]),
    "rb_source_read_into": (ERROR, [P, P, c_int, P, I, I]),
    "rb_source_checksum": (ERROR, [P, P, POINTER(c_uint32)]),
    "rb_fit": (ERROR, [P, P, P, P, POINTER(P)]),
    "rb_model_free": (None, [P]),
    "rb_model_save_memory": (ERROR, [P, P, POINTER(P), POINTER(N)]),
    "rb_model_load_memory": (ERROR, [P, P, N, POINTER(P)]),
    "rb_free_memory": (None, [P]),
    "rb_model_method": (S, [P]),
    "rb_model_table": (POINTER(CMethod), [P]),
    "rb_model_features": (I, [P]),
    "rb_model_inputs": (I, [P]),
    "rb_model_units": (I, [P]),
    "rb_model_type": (c_int, [P]),
    "rb_model_status": (c_int, [P]),
    "rb_model_feature_index": (I, [P, I]),
    "rb_model_feature_name": (S, [P, I]),
    "rb_model_array": (POINTER(F), [P, S, POINTER(I), POINTER(I)]),
    "rb_model_array_name": (S, [P, I]),
    "rb_model_attribute": (S, [P, S]),
    "rb_model_attribute_name": (S, [P, I]),
    "rb_model_set_attribute": (ERROR, [P, P, S, S]),
    "rb_model_iterations": (I, [P]),
    "rb_model_history": (ERROR, [P, I, POINTER(F), POINTER(F), POINTER(F)]),
    "rb_model_metric": (ERROR, [P, I, S, POINTER(F)]),
    "rb_encode_into": (ERROR, [P, P, P, c_int, P, I, I]),
    "rb_reconstruct_into": (ERROR, [P, P, P, c_int, P, I, I]),
    "rb_decode_into": (ERROR, [P, P, P, c_int, P, I, I]),
    "rb_sample_into": (ERROR, [P, P, P, P, c_int, P, I, I]),
    "rb_sample_group": (P, []),
    "rb_states": (ERROR, [P, P, P, StateFn, P]),
    "rb_evaluate": (ERROR, [P, P, P, POINTER(P)]),
    "rb_metrics_get": (F, [P, S]),
    "rb_metrics_name": (S, [P, I]),
    "rb_metrics_free": (None, [P]),
}


# Of librarebit-io.
IO_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "rb_read_group": (P, []),
    "rb_write": (ERROR, [P, P, S]),
    "rb_anndata_copy": (ERROR, [P, S, S, S]),
    "rb_read": (ERROR, [P, S, P, POINTER(P)]),
    "rb_open": (ERROR, [P, S, P, POINTER(P)]),
    "rb_feature_sets_read": (ERROR, [P, S, P]),
    "rb_journal_merge": (ERROR, [P, POINTER(S), c_int, S, POINTER(I), POINTER(I)]),
    "rb_report_write": (ERROR, [P, P, POINTER(CReport), S]),
    "rb_model_save": (ERROR, [P, P, S]),
    "rb_model_load": (ERROR, [P, S, POINTER(P)]),
    "rb_io_use": (None, [P]),
}


# Of librarebit-nets.
NETS_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "rb_nets_use": (ERROR, [P]),
    "rb_stack_options": (ERROR, [P, S, POINTER(P)]),
    "rb_stack_fit": (ERROR, [P, P, P, POINTER(P)]),
    "rb_stack_layers": (I, [P]),
    "rb_stack_layer": (ERROR, [P, P, I, POINTER(P)]),
    "rb_finetune_options_new": (ERROR, [P, POINTER(P)]),
    "rb_finetune": (ERROR, [P, P, P, POINTER(CLabelled), POINTER(CLabelled), POINTER(P)]),
    "rb_finetune_grid": (ERROR, [P, P, S, P, POINTER(CLabelled), POINTER(CLabelled), POINTER(P)]),
    "rb_grid_points": (I, [P]),
    "rb_grid_point": (S, [P, I]),
    "rb_grid_get": (F, [P, I, S]),
    "rb_grid_best": (I, [P]),
    "rb_grid_take": (P, [P]),
    "rb_grid_free": (None, [P]),
    "rb_net_output_name": (I, [P, I, S, N]),
    "rb_net_outputs": (S, [P]),
    "rb_net_score": (ERROR, [P, P, POINTER(CLabelled), POINTER(CScores)]),
    "rb_net_scores_clear": (None, [POINTER(CScores)]),
    "rb_layers_new": (ERROR, [P, P, S, POINTER(P)]),
    "rb_layers_free": (None, [P]),
    "rb_layers_count": (I, [P]),
    "rb_layers_weights": (P, [P, I, POINTER(I), P]),
    "rb_layers_bias": (P, [P, I]),
    "rb_layers_activation": (S, [P, I]),
}


# Of librarebit-nets beside a librarebit-io, which a wheel lacks.
NETS_FILES_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "rb_layers_write": (ERROR, [P, P, P, S]),
    "rb_net_read": (ERROR, [P, S, P, POINTER(P)]),
}


# Of librarebit-media.
MEDIA_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "rb_patches_group": (P, []),
    "rb_patches_whitened": (ERROR, [P, POINTER(S), I, P, POINTER(P), POINTER(P)]),
    "rb_whitening_write": (ERROR, [P, P, S]),
    "rb_whitening_free": (None, [P]),
    "rb_whitening_read": (ERROR, [P, S, POINTER(P)]),
    "rb_kernels_write": (ERROR, [P, P, POINTER(CUnitWeights), S, P, S]),
    "rb_segments_group": (P, []),
    "rb_segments": (ERROR, [P, POINTER(S), I, P, POINTER(P)]),
    "rb_denoise_group": (P, []),
    "rb_denoise": (ERROR, [P, P, S, P, S, POINTER(CDenoising)]),
}

# Of librarebit-cl.
CL_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "rb_cl_count": (c_int, []),
    "rb_cl_about": (ERROR, [c_int, POINTER(CDevice)]),
    "rb_cl_open": (ERROR, [S, POINTER(P), S]),
    "rb_cl_close": (None, [P]),
}

# The libraries beside the core: their functions, and what needs them.
BESIDE = {"rarebit-io": (IO_FUNCTIONS, "files"), "rarebit-nets": (NETS_FUNCTIONS, "nets"),
          "rarebit-media": (MEDIA_FUNCTIONS, "images and sounds"),
          "rarebit-cl": (CL_FUNCTIONS, "devices")}


def _places(name: str) -> Iterator[str]:
    """Where a library may be, in order; `name` is rarebit, or rarebit-io, ..."""
    named = os.environ.get("RAREBIT_LIBRARY")
    folder = Path(named) if named else Path(__file__).parent
    if named and folder.is_file():
        if name == "rarebit":
            yield str(folder)
        folder = folder.parent
    for place in (folder, folder / "lib"):
        for path in sorted(place.glob(f"lib{name}*{SUFFIX}*"), key=lambda p: len(p.name)):
            if path.name.startswith((f"lib{name}.", f"lib{name}{SUFFIX}")):
                yield str(path)
    if named:
        return
    found = ctypes.util.find_library(name)
    if found:
        yield found


def _declare(library: ctypes.CDLL, path: str, table: dict[str, tuple[Any, list[Any]]]) -> None:
    for name, (result, arguments) in table.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{path} is of another version: it has no {name}; "
                              "take the librarebit of this package's version") from None
        function.restype, function.argtypes = result, arguments


def _open(path: str) -> ctypes.CDLL:
    """A library; the OpenBLAS below it takes the kernels that suit this processor. It reads
    OPENBLAS_CORETYPE when it is loaded, here for a second time where it has taken slower ones.
    What is set already stays, and so does an OpenBLAS that something else has loaded."""
    library = ctypes.CDLL(path)
    info = getattr(library, "rb_build_info", None)
    if info is None or "OPENBLAS_CORETYPE" in os.environ:
        return library
    info.restype, info.argtypes = FUNCTIONS["rb_build_info"]
    better = info(None, b"blas_advice")
    if not better:
        return library
    getattr(_ctypes, "dlclose")(library._handle)  # unknown to typeshed
    os.environ["OPENBLAS_CORETYPE"] = better.decode()
    try:
        return ctypes.CDLL(path)
    finally:
        del os.environ["OPENBLAS_CORETYPE"]


def _load(name: str, table: dict[str, tuple[Any, list[Any]]]
          ) -> tuple[Optional[ctypes.CDLL], str]:
    """The library and its path; None and why there is none."""
    why = f"there is no lib{name}{SUFFIX}"
    for path in _places(name):
        try:
            library = _open(path)
        except OSError as error:
            why = str(error)
            continue
        _declare(library, path, table)
        return library, path
    return None, why


def _core() -> tuple[ctypes.CDLL, str]:
    library, path = _load("rarebit", FUNCTIONS)
    if library is None:
        raise ImportError(f"librarebit cannot be loaded ({path}): install it, or let the "
                          "environment variable RAREBIT_LIBRARY name its file or folder")
    return library, path


core, path = _core()


@functools.lru_cache(maxsize=None)
def _beside(name: str) -> tuple[Optional[ctypes.CDLL], str]:
    """A library beside the core, looked for when it is needed: the system's takes a while to be
    found. In a wheel nets and media find librarebit-io only once it is loaded."""
    found = _load(name, BESIDE[name][0])
    if found[0] is None and name in ("rarebit-nets", "rarebit-media") and has_io():
        found = _load(name, BESIDE[name][0])
    return found


def declare(table: dict[str, tuple[Any, list[Any]]]) -> None:
    """Functions of the core that one part of this package needs besides."""
    _declare(core, path, table)
    FUNCTIONS.update(table)


def has_io() -> bool:
    """Is librarebit-io there, for files?"""
    return _beside("rarebit-io")[0] is not None


def has_nets() -> bool:
    """Is librarebit-nets there, whose methods a context then knows (DAE, RBM, stacks)?"""
    return _beside("rarebit-nets")[0] is not None


def _needed(name: str) -> ctypes.CDLL:
    """A library beside the core, or an error that says what to do."""
    library, why = _beside(name)
    if library is None:
        raise NotImplementedError(
            f"{BESIDE[name][1]} need lib{name}, which cannot be loaded ({why}): install the "
            "library by `cmake --install`, or let RAREBIT_LIBRARY name the folder in which it was "
            "built" + ("; arrays, pickles and streams do without it" if "io" in name else ""))
    return library


def io() -> ctypes.CDLL:
    """librarebit-io."""
    return _needed("rarebit-io")


def nets() -> ctypes.CDLL:
    """librarebit-nets."""
    return _needed("rarebit-nets")


def nets_files() -> ctypes.CDLL:
    """librarebit-nets, with layers in files."""
    library = io() and nets()
    _declare(library, _beside("rarebit-nets")[1], NETS_FILES_FUNCTIONS)
    return library


def media() -> ctypes.CDLL:
    """librarebit-media."""
    return _needed("rarebit-media")


def devices_library() -> ctypes.CDLL:
    """librarebit-cl."""
    return _needed("rarebit-cl")


def version() -> str:
    """The version of librarebit.

    Examples
    --------
    >>> rarebit.library_version()
    """
    return str(core.rb_version().decode())


def text(value: Optional[bytes]) -> Optional[str]:
    return None if value is None else value.decode("utf-8", "replace")


def build_info() -> dict[str, str]:
    """What computes: the library's file and version, its kernels, the BLAS.

    blas_advice is the OPENBLAS_CORETYPE that suits this processor, where OpenBLAS took another
    one because it was loaded before this package, or was told to: import rarebit first, or set it
    in the environment before Python starts. Fits get faster, and their bits those of the program
    `rarebit`.

    Examples
    --------
    >>> rarebit.build_info()["kernels"]
    """
    found = {"library": path, "version": version(),
             "files": _beside("rarebit-io")[1] if has_io() else ""}
    for name in ("compiler", "kernels", "blas", "blas_core", "blas_advice"):
        found[name] = text(core.rb_build_info(None, name.encode())) or ""
    return found
