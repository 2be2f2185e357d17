"""Written by _stub.py from the option tables of the library."""

from collections.abc import Callable
from typing import Any, Literal, Optional, Union

from numpy.random import Generator, RandomState
from numpy.typing import ArrayLike

from ._estimators import Batches, Clusters, Directions, Estimator
from ._progress import Progress
from ._sources import Source
from .nets import Classifies, Regresses

CLASSES: dict[str, type[Estimator]]


def samples_of(X: Any) -> Source: ...


def load(path: Any) -> Estimator: ...


class RFN(Batches):
    n_components: Any
    preset: Any
    sparse_loadings: Any
    prior_mean: Any
    iterations: Any
    random_state: Any
    restarts: Any
    checkpoint: Any
    missing: Any
    totals: Any
    log1p: Any
    top_variance: Any
    regress: Any
    eta: Any
    eta_psi: Any
    eta_schedule: Any
    eta_every: Any
    eta_factor: Any
    moment_decay: Any
    normalize: Any
    estep: Any
    accept: Any
    gradient_search: Any
    newton_iterations: Any
    steer_iterations: Any
    target_sparseness: Any
    estep_tolerance: Any
    mstep: Any
    psi_update: Any
    psi_step: Any
    noise: Any
    noise_decay: Any
    psi_min: Any
    psi_init: Any
    weight_max: Any
    weight_init: Any
    weight_start: Any
    weight_decay: Any
    weight_decay_laplace: Any
    dropout: Any
    dropout_place: Any
    input_noise: Any
    input_noise_level: Any
    momentum: Any
    activation: Any
    activation_threshold: Any
    activation_slope: Any
    prior_covariance: Any
    tolerance: Any
    patience: Any
    parameter_tolerance: Any
    max_time: Any
    precision: Any
    batch_size: Any
    keep_order: Any
    trace: Any
    accelerate: Any
    drop_samples: Any
    checkpoint_every: Any
    cache: Any
    centre_samples: Any
    drop: Any
    centre: Any
    scale: Any

    def __init__(
        self,
        n_components: int = 10,
        *,
        preset: Optional[Literal["none", "paper", "biclustering", "sparse"]] = None,
        sparse_loadings: Optional[float] = None,
        prior_mean: Optional[Union[float, ArrayLike]] = None,
        iterations: Optional[int] = None,
        random_state: Optional[Union[int, RandomState, Generator]] = None,
        restarts: Optional[int] = None,
        checkpoint: Optional[str] = None,
        missing: Optional[Literal["refuse", "mean", "median", "omit", "model"]] = None,
        totals: Optional[Union[float, Literal["median"]]] = None,
        log1p: Optional[bool] = None,
        top_variance: Optional[int] = None,
        regress: Optional[str] = None,
        eta: Optional[float] = None,
        eta_psi: Optional[float] = None,
        eta_schedule: Optional[Literal["constant", "step", "inverse"]] = None,
        eta_every: Optional[int] = None,
        eta_factor: Optional[float] = None,
        moment_decay: Optional[float] = None,
        normalize: Optional[Literal["rms", "sd", "none"]] = None,
        estep: Optional[Literal["newton", "gradient", "cyclic", "annealed", "reduced", "grg", "rosen", "haug-arora", "cascade", "auto"]] = None,
        accept: Optional[Literal["gradient", "any"]] = None,
        gradient_search: Optional[Literal["none", "half", "tenth"]] = None,
        newton_iterations: Optional[int] = None,
        steer_iterations: Optional[int] = None,
        target_sparseness: Optional[float] = None,
        estep_tolerance: Optional[float] = None,
        mstep: Optional[Literal["newton", "gradient"]] = None,
        psi_update: Optional[Literal["old", "new"]] = None,
        psi_step: Optional[Literal["variance", "precision"]] = None,
        noise: Optional[Literal["diagonal", "full"]] = None,
        noise_decay: Optional[float] = None,
        psi_min: Optional[float] = None,
        psi_init: Optional[float] = None,
        weight_max: Optional[float] = None,
        weight_init: Optional[float] = None,
        weight_start: Optional[Literal["normal", "uniform"]] = None,
        weight_decay: Optional[float] = None,
        weight_decay_laplace: Optional[float] = None,
        dropout: Optional[float] = None,
        dropout_place: Optional[Literal["before", "after"]] = None,
        input_noise: Optional[Literal["none", "masking", "salt-and-pepper", "gaussian"]] = None,
        input_noise_level: Optional[float] = None,
        momentum: Optional[float] = None,
        activation: Optional[Literal["rectify", "leaky", "sigmoid", "tanh"]] = None,
        activation_threshold: Optional[float] = None,
        activation_slope: Optional[float] = None,
        prior_covariance: Optional[Union[float, ArrayLike]] = None,
        tolerance: Optional[float] = None,
        patience: Optional[int] = None,
        parameter_tolerance: Optional[float] = None,
        max_time: Optional[Union[float, str]] = None,
        precision: Optional[Literal["float32", "float64"]] = None,
        batch_size: Optional[int] = None,
        keep_order: Optional[bool] = None,
        trace: Optional[bool] = None,
        accelerate: Optional[Literal["none", "squarem", "nesterov"]] = None,
        drop_samples: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        checkpoint_every: Optional[Union[int, str]] = None,
        cache: Optional[Union[int, str]] = None,
        centre_samples: Optional[Literal["none", "mean", "median"]] = None,
        drop: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        centre: Optional[Literal["mean", "median", "none", "auto"]] = None,
        scale: Optional[Literal["none", "sd", "iqr"]] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        callback: Optional[Callable[[Progress], Optional[bool]]] = None,
        min_shared: float = 0.1,
        on_interrupt: Literal["raise", "stop"] = 'raise',
        device: Optional[str] = None,
    ) -> None: ...


class LinCA(Estimator):
    n_components: Any
    max_active: Any
    iterations: Any
    random_state: Any
    restarts: Any
    checkpoint: Any
    missing: Any
    totals: Any
    log1p: Any
    top_variance: Any
    regress: Any
    values: Any
    value_prior: Any
    candidates: Any
    max_active_limit: Any
    candidates_limit: Any
    prior: Any
    sigma: Any
    learn_prior: Any
    learn_sigma: Any
    prior_per_cause: Any
    count: Any
    exact: Any
    temperature: Any
    weight_noise: Any
    weight_noise_schedule: Any
    init_mean: Any
    init_sd: Any
    selection: Any
    region: Any
    singletons: Any
    anneal_prior: Any
    cut_factor: Any
    cut_schedule: Any
    as_printed: Any
    tolerance: Any
    patience: Any
    parameter_tolerance: Any
    max_time: Any
    precision: Any
    trace: Any
    drop_samples: Any
    checkpoint_every: Any
    cache: Any
    centre_samples: Any
    drop: Any
    centre: Any
    scale: Any

    def __init__(
        self,
        n_components: int = 10,
        *,
        max_active: Optional[int] = None,
        iterations: Optional[int] = None,
        random_state: Optional[Union[int, RandomState, Generator]] = None,
        restarts: Optional[int] = None,
        checkpoint: Optional[str] = None,
        missing: Optional[Literal["refuse", "mean", "median", "omit", "model"]] = None,
        totals: Optional[Union[float, Literal["median"]]] = None,
        log1p: Optional[bool] = None,
        top_variance: Optional[int] = None,
        regress: Optional[str] = None,
        values: Optional[str] = None,
        value_prior: Optional[str] = None,
        candidates: Optional[int] = None,
        max_active_limit: Optional[int] = None,
        candidates_limit: Optional[int] = None,
        prior: Optional[float] = None,
        sigma: Optional[float] = None,
        learn_prior: Optional[bool] = None,
        learn_sigma: Optional[bool] = None,
        prior_per_cause: Optional[bool] = None,
        count: Optional[int] = None,
        exact: Optional[bool] = None,
        temperature: Optional[str] = None,
        weight_noise: Optional[float] = None,
        weight_noise_schedule: Optional[str] = None,
        init_mean: Optional[float] = None,
        init_sd: Optional[float] = None,
        selection: Optional[Literal["auto", "joint", "cosine", "bound", "exact", "product"]] = None,
        region: Optional[int] = None,
        singletons: Optional[Literal["auto", "yes", "no"]] = None,
        anneal_prior: Optional[Literal["auto", "yes", "no"]] = None,
        cut_factor: Optional[float] = None,
        cut_schedule: Optional[str] = None,
        as_printed: Optional[bool] = None,
        tolerance: Optional[float] = None,
        patience: Optional[int] = None,
        parameter_tolerance: Optional[float] = None,
        max_time: Optional[Union[float, str]] = None,
        precision: Optional[Literal["float32", "float64"]] = None,
        trace: Optional[bool] = None,
        drop_samples: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        checkpoint_every: Optional[Union[int, str]] = None,
        cache: Optional[Union[int, str]] = None,
        centre_samples: Optional[Literal["none", "mean", "median"]] = None,
        drop: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        centre: Optional[Literal["mean", "median", "none", "auto"]] = None,
        scale: Optional[Literal["none", "sd", "iqr"]] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        callback: Optional[Callable[[Progress], Optional[bool]]] = None,
        min_shared: float = 0.1,
        on_interrupt: Literal["raise", "stop"] = 'raise',
        device: Optional[str] = None,
    ) -> None: ...


class NMFET(Estimator):
    n_components: Any
    noise: Any
    max_active: Any
    iterations: Any
    random_state: Any
    restarts: Any
    checkpoint: Any
    missing: Any
    totals: Any
    log1p: Any
    top_variance: Any
    regress: Any
    mstep: Any
    negative: Any
    values: Any
    value_prior: Any
    candidates: Any
    max_active_limit: Any
    candidates_limit: Any
    prior: Any
    sigma: Any
    learn_prior: Any
    learn_sigma: Any
    prior_per_cause: Any
    count: Any
    exact: Any
    temperature: Any
    weight_noise: Any
    weight_noise_schedule: Any
    init_mean: Any
    init_sd: Any
    selection: Any
    region: Any
    singletons: Any
    anneal_prior: Any
    cut_factor: Any
    cut_schedule: Any
    as_printed: Any
    tolerance: Any
    patience: Any
    parameter_tolerance: Any
    max_time: Any
    precision: Any
    trace: Any
    drop_samples: Any
    checkpoint_every: Any
    cache: Any
    centre_samples: Any
    drop: Any
    centre: Any
    scale: Any

    def __init__(
        self,
        n_components: int = 10,
        *,
        noise: Optional[Literal["gaussian", "poisson"]] = None,
        max_active: Optional[int] = None,
        iterations: Optional[int] = None,
        random_state: Optional[Union[int, RandomState, Generator]] = None,
        restarts: Optional[int] = None,
        checkpoint: Optional[str] = None,
        missing: Optional[Literal["refuse", "mean", "median", "omit", "model"]] = None,
        totals: Optional[Union[float, Literal["median"]]] = None,
        log1p: Optional[bool] = None,
        top_variance: Optional[int] = None,
        regress: Optional[str] = None,
        mstep: Optional[Literal["solve", "multiplicative"]] = None,
        negative: Optional[Literal["clamp", "reflect"]] = None,
        values: Optional[str] = None,
        value_prior: Optional[str] = None,
        candidates: Optional[int] = None,
        max_active_limit: Optional[int] = None,
        candidates_limit: Optional[int] = None,
        prior: Optional[float] = None,
        sigma: Optional[float] = None,
        learn_prior: Optional[bool] = None,
        learn_sigma: Optional[bool] = None,
        prior_per_cause: Optional[bool] = None,
        count: Optional[int] = None,
        exact: Optional[bool] = None,
        temperature: Optional[str] = None,
        weight_noise: Optional[float] = None,
        weight_noise_schedule: Optional[str] = None,
        init_mean: Optional[float] = None,
        init_sd: Optional[float] = None,
        selection: Optional[Literal["auto", "joint", "cosine", "bound", "exact", "product"]] = None,
        region: Optional[int] = None,
        singletons: Optional[Literal["auto", "yes", "no"]] = None,
        anneal_prior: Optional[Literal["auto", "yes", "no"]] = None,
        cut_factor: Optional[float] = None,
        cut_schedule: Optional[str] = None,
        as_printed: Optional[bool] = None,
        tolerance: Optional[float] = None,
        patience: Optional[int] = None,
        parameter_tolerance: Optional[float] = None,
        max_time: Optional[Union[float, str]] = None,
        precision: Optional[Literal["float32", "float64"]] = None,
        trace: Optional[bool] = None,
        drop_samples: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        checkpoint_every: Optional[Union[int, str]] = None,
        cache: Optional[Union[int, str]] = None,
        centre_samples: Optional[Literal["none", "mean", "median"]] = None,
        drop: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        centre: Optional[Literal["mean", "median", "none", "auto"]] = None,
        scale: Optional[Literal["none", "sd", "iqr"]] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        callback: Optional[Callable[[Progress], Optional[bool]]] = None,
        min_shared: float = 0.1,
        on_interrupt: Literal["raise", "stop"] = 'raise',
        device: Optional[str] = None,
    ) -> None: ...


class MCA(Estimator):
    n_components: Any
    noise: Any
    max_active: Any
    iterations: Any
    random_state: Any
    restarts: Any
    checkpoint: Any
    missing: Any
    totals: Any
    log1p: Any
    top_variance: Any
    regress: Any
    negative: Any
    values: Any
    value_prior: Any
    candidates: Any
    max_active_limit: Any
    candidates_limit: Any
    prior: Any
    sigma: Any
    learn_prior: Any
    learn_sigma: Any
    prior_per_cause: Any
    count: Any
    exact: Any
    temperature: Any
    weight_noise: Any
    weight_noise_schedule: Any
    init_mean: Any
    init_sd: Any
    selection: Any
    region: Any
    singletons: Any
    anneal_prior: Any
    cut_factor: Any
    cut_schedule: Any
    as_printed: Any
    tolerance: Any
    patience: Any
    parameter_tolerance: Any
    max_time: Any
    precision: Any
    trace: Any
    drop_samples: Any
    checkpoint_every: Any
    cache: Any
    centre_samples: Any
    drop: Any
    centre: Any
    scale: Any

    def __init__(
        self,
        n_components: int = 10,
        *,
        noise: Optional[Literal["gaussian", "poisson"]] = None,
        max_active: Optional[int] = None,
        iterations: Optional[int] = None,
        random_state: Optional[Union[int, RandomState, Generator]] = None,
        restarts: Optional[int] = None,
        checkpoint: Optional[str] = None,
        missing: Optional[Literal["refuse", "mean", "median", "omit", "model"]] = None,
        totals: Optional[Union[float, Literal["median"]]] = None,
        log1p: Optional[bool] = None,
        top_variance: Optional[int] = None,
        regress: Optional[str] = None,
        negative: Optional[Literal["clamp", "reflect"]] = None,
        values: Optional[str] = None,
        value_prior: Optional[str] = None,
        candidates: Optional[int] = None,
        max_active_limit: Optional[int] = None,
        candidates_limit: Optional[int] = None,
        prior: Optional[float] = None,
        sigma: Optional[float] = None,
        learn_prior: Optional[bool] = None,
        learn_sigma: Optional[bool] = None,
        prior_per_cause: Optional[bool] = None,
        count: Optional[int] = None,
        exact: Optional[bool] = None,
        temperature: Optional[str] = None,
        weight_noise: Optional[float] = None,
        weight_noise_schedule: Optional[str] = None,
        init_mean: Optional[float] = None,
        init_sd: Optional[float] = None,
        selection: Optional[Literal["auto", "joint", "cosine", "bound", "exact", "product"]] = None,
        region: Optional[int] = None,
        singletons: Optional[Literal["auto", "yes", "no"]] = None,
        anneal_prior: Optional[Literal["auto", "yes", "no"]] = None,
        cut_factor: Optional[float] = None,
        cut_schedule: Optional[str] = None,
        as_printed: Optional[bool] = None,
        tolerance: Optional[float] = None,
        patience: Optional[int] = None,
        parameter_tolerance: Optional[float] = None,
        max_time: Optional[Union[float, str]] = None,
        precision: Optional[Literal["float32", "float64"]] = None,
        trace: Optional[bool] = None,
        drop_samples: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        checkpoint_every: Optional[Union[int, str]] = None,
        cache: Optional[Union[int, str]] = None,
        centre_samples: Optional[Literal["none", "mean", "median"]] = None,
        drop: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        centre: Optional[Literal["mean", "median", "none", "auto"]] = None,
        scale: Optional[Literal["none", "sd", "iqr"]] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        callback: Optional[Callable[[Progress], Optional[bool]]] = None,
        min_shared: float = 0.1,
        on_interrupt: Literal["raise", "stop"] = 'raise',
        device: Optional[str] = None,
    ) -> None: ...


class SSC(Estimator):
    n_components: Any
    max_active: Any
    iterations: Any
    random_state: Any
    restarts: Any
    checkpoint: Any
    missing: Any
    totals: Any
    log1p: Any
    top_variance: Any
    regress: Any
    candidates: Any
    exact: Any
    slab_mean: Any
    prior: Any
    sigma: Any
    temperature: Any
    weight_noise: Any
    tolerance: Any
    patience: Any
    parameter_tolerance: Any
    max_time: Any
    precision: Any
    trace: Any
    drop_samples: Any
    checkpoint_every: Any
    cache: Any
    centre_samples: Any
    drop: Any
    centre: Any
    scale: Any

    def __init__(
        self,
        n_components: int = 10,
        *,
        max_active: Optional[int] = None,
        iterations: Optional[int] = None,
        random_state: Optional[Union[int, RandomState, Generator]] = None,
        restarts: Optional[int] = None,
        checkpoint: Optional[str] = None,
        missing: Optional[Literal["refuse", "mean", "median", "omit", "model"]] = None,
        totals: Optional[Union[float, Literal["median"]]] = None,
        log1p: Optional[bool] = None,
        top_variance: Optional[int] = None,
        regress: Optional[str] = None,
        candidates: Optional[int] = None,
        exact: Optional[bool] = None,
        slab_mean: Optional[Literal["learned", "zero"]] = None,
        prior: Optional[float] = None,
        sigma: Optional[float] = None,
        temperature: Optional[str] = None,
        weight_noise: Optional[float] = None,
        tolerance: Optional[float] = None,
        patience: Optional[int] = None,
        parameter_tolerance: Optional[float] = None,
        max_time: Optional[Union[float, str]] = None,
        precision: Optional[Literal["float32", "float64"]] = None,
        trace: Optional[bool] = None,
        drop_samples: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        checkpoint_every: Optional[Union[int, str]] = None,
        cache: Optional[Union[int, str]] = None,
        centre_samples: Optional[Literal["none", "mean", "median"]] = None,
        drop: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        centre: Optional[Literal["mean", "median", "none", "auto"]] = None,
        scale: Optional[Literal["none", "sd", "iqr"]] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        callback: Optional[Callable[[Progress], Optional[bool]]] = None,
        min_shared: float = 0.1,
        on_interrupt: Literal["raise", "stop"] = 'raise',
    ) -> None: ...


class PCA(Directions):
    n_components: Any
    iterations: Any
    random_state: Any
    restarts: Any
    checkpoint: Any
    missing: Any
    totals: Any
    log1p: Any
    top_variance: Any
    regress: Any
    solver: Any
    whiten: Any
    tolerance: Any
    patience: Any
    parameter_tolerance: Any
    max_time: Any
    precision: Any
    trace: Any
    drop_samples: Any
    checkpoint_every: Any
    cache: Any
    centre_samples: Any
    drop: Any
    centre: Any
    scale: Any

    def __init__(
        self,
        n_components: Optional[int] = None,
        *,
        iterations: Optional[int] = None,
        random_state: Optional[Union[int, RandomState, Generator]] = None,
        restarts: Optional[int] = None,
        checkpoint: Optional[str] = None,
        missing: Optional[Literal["refuse", "mean", "median", "omit", "model"]] = None,
        totals: Optional[Union[float, Literal["median"]]] = None,
        log1p: Optional[bool] = None,
        top_variance: Optional[int] = None,
        regress: Optional[str] = None,
        solver: Optional[Literal["auto", "exact", "randomized"]] = None,
        whiten: Optional[bool] = None,
        tolerance: Optional[float] = None,
        patience: Optional[int] = None,
        parameter_tolerance: Optional[float] = None,
        max_time: Optional[Union[float, str]] = None,
        precision: Optional[Literal["float32", "float64"]] = None,
        trace: Optional[bool] = None,
        drop_samples: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        checkpoint_every: Optional[Union[int, str]] = None,
        cache: Optional[Union[int, str]] = None,
        centre_samples: Optional[Literal["none", "mean", "median"]] = None,
        drop: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        centre: Optional[Literal["mean", "median", "none", "auto"]] = None,
        scale: Optional[Literal["none", "sd", "iqr"]] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        callback: Optional[Callable[[Progress], Optional[bool]]] = None,
        min_shared: float = 0.1,
        on_interrupt: Literal["raise", "stop"] = 'raise',
    ) -> None: ...


class ICA(Estimator):
    n_components: Any
    iterations: Any
    random_state: Any
    restarts: Any
    checkpoint: Any
    missing: Any
    totals: Any
    log1p: Any
    top_variance: Any
    regress: Any
    algorithm: Any
    contrast: Any
    rotation_tolerance: Any
    solver: Any
    tolerance: Any
    patience: Any
    parameter_tolerance: Any
    max_time: Any
    precision: Any
    trace: Any
    drop_samples: Any
    checkpoint_every: Any
    cache: Any
    centre_samples: Any
    drop: Any
    centre: Any
    scale: Any

    def __init__(
        self,
        n_components: Optional[int] = None,
        *,
        iterations: Optional[int] = None,
        random_state: Optional[Union[int, RandomState, Generator]] = None,
        restarts: Optional[int] = None,
        checkpoint: Optional[str] = None,
        missing: Optional[Literal["refuse", "mean", "median", "omit", "model"]] = None,
        totals: Optional[Union[float, Literal["median"]]] = None,
        log1p: Optional[bool] = None,
        top_variance: Optional[int] = None,
        regress: Optional[str] = None,
        algorithm: Optional[Literal["symmetric", "deflation"]] = None,
        contrast: Optional[Literal["logcosh", "exp", "cube"]] = None,
        rotation_tolerance: Optional[float] = None,
        solver: Optional[Literal["auto", "exact", "randomized"]] = None,
        tolerance: Optional[float] = None,
        patience: Optional[int] = None,
        parameter_tolerance: Optional[float] = None,
        max_time: Optional[Union[float, str]] = None,
        precision: Optional[Literal["float32", "float64"]] = None,
        trace: Optional[bool] = None,
        drop_samples: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        checkpoint_every: Optional[Union[int, str]] = None,
        cache: Optional[Union[int, str]] = None,
        centre_samples: Optional[Literal["none", "mean", "median"]] = None,
        drop: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        centre: Optional[Literal["mean", "median", "none", "auto"]] = None,
        scale: Optional[Literal["none", "sd", "iqr"]] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        callback: Optional[Callable[[Progress], Optional[bool]]] = None,
        min_shared: float = 0.1,
        on_interrupt: Literal["raise", "stop"] = 'raise',
    ) -> None: ...


class FA(Estimator):
    n_components: Any
    iterations: Any
    random_state: Any
    restarts: Any
    checkpoint: Any
    missing: Any
    totals: Any
    log1p: Any
    top_variance: Any
    regress: Any
    solver: Any
    noise_min: Any
    normalize: Any
    weight_init: Any
    tolerance: Any
    patience: Any
    parameter_tolerance: Any
    max_time: Any
    precision: Any
    trace: Any
    accelerate: Any
    drop_samples: Any
    checkpoint_every: Any
    cache: Any
    centre_samples: Any
    drop: Any
    centre: Any
    scale: Any

    def __init__(
        self,
        n_components: int = 10,
        *,
        iterations: Optional[int] = None,
        random_state: Optional[Union[int, RandomState, Generator]] = None,
        restarts: Optional[int] = None,
        checkpoint: Optional[str] = None,
        missing: Optional[Literal["refuse", "mean", "median", "omit", "model"]] = None,
        totals: Optional[Union[float, Literal["median"]]] = None,
        log1p: Optional[bool] = None,
        top_variance: Optional[int] = None,
        regress: Optional[str] = None,
        solver: Optional[Literal["auto", "em", "fixed-point"]] = None,
        noise_min: Optional[float] = None,
        normalize: Optional[Literal["none", "rms"]] = None,
        weight_init: Optional[float] = None,
        tolerance: Optional[float] = None,
        patience: Optional[int] = None,
        parameter_tolerance: Optional[float] = None,
        max_time: Optional[Union[float, str]] = None,
        precision: Optional[Literal["float32", "float64"]] = None,
        trace: Optional[bool] = None,
        accelerate: Optional[Literal["none", "squarem", "nesterov"]] = None,
        drop_samples: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        checkpoint_every: Optional[Union[int, str]] = None,
        cache: Optional[Union[int, str]] = None,
        centre_samples: Optional[Literal["none", "mean", "median"]] = None,
        drop: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        centre: Optional[Literal["mean", "median", "none", "auto"]] = None,
        scale: Optional[Literal["none", "sd", "iqr"]] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        callback: Optional[Callable[[Progress], Optional[bool]]] = None,
        min_shared: float = 0.1,
        on_interrupt: Literal["raise", "stop"] = 'raise',
    ) -> None: ...


class SFA(Estimator):
    n_components: Any
    iterations: Any
    random_state: Any
    restarts: Any
    checkpoint: Any
    missing: Any
    totals: Any
    log1p: Any
    top_variance: Any
    regress: Any
    weight_decay: Any
    noise_min: Any
    normalize: Any
    weight_init: Any
    tolerance: Any
    patience: Any
    parameter_tolerance: Any
    max_time: Any
    precision: Any
    trace: Any
    drop_samples: Any
    checkpoint_every: Any
    cache: Any
    centre_samples: Any
    drop: Any
    centre: Any
    scale: Any

    def __init__(
        self,
        n_components: int = 10,
        *,
        iterations: Optional[int] = None,
        random_state: Optional[Union[int, RandomState, Generator]] = None,
        restarts: Optional[int] = None,
        checkpoint: Optional[str] = None,
        missing: Optional[Literal["refuse", "mean", "median", "omit", "model"]] = None,
        totals: Optional[Union[float, Literal["median"]]] = None,
        log1p: Optional[bool] = None,
        top_variance: Optional[int] = None,
        regress: Optional[str] = None,
        weight_decay: Optional[float] = None,
        noise_min: Optional[float] = None,
        normalize: Optional[Literal["none", "rms"]] = None,
        weight_init: Optional[float] = None,
        tolerance: Optional[float] = None,
        patience: Optional[int] = None,
        parameter_tolerance: Optional[float] = None,
        max_time: Optional[Union[float, str]] = None,
        precision: Optional[Literal["float32", "float64"]] = None,
        trace: Optional[bool] = None,
        drop_samples: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        checkpoint_every: Optional[Union[int, str]] = None,
        cache: Optional[Union[int, str]] = None,
        centre_samples: Optional[Literal["none", "mean", "median"]] = None,
        drop: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        centre: Optional[Literal["mean", "median", "none", "auto"]] = None,
        scale: Optional[Literal["none", "sd", "iqr"]] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        callback: Optional[Callable[[Progress], Optional[bool]]] = None,
        min_shared: float = 0.1,
        on_interrupt: Literal["raise", "stop"] = 'raise',
    ) -> None: ...


class FALaplace(Estimator):
    n_components: Any
    iterations: Any
    random_state: Any
    restarts: Any
    checkpoint: Any
    missing: Any
    totals: Any
    log1p: Any
    top_variance: Any
    regress: Any
    noise_min: Any
    normalize: Any
    weight_init: Any
    tolerance: Any
    patience: Any
    parameter_tolerance: Any
    max_time: Any
    precision: Any
    trace: Any
    drop_samples: Any
    checkpoint_every: Any
    cache: Any
    centre_samples: Any
    drop: Any
    centre: Any
    scale: Any

    def __init__(
        self,
        n_components: int = 10,
        *,
        iterations: Optional[int] = None,
        random_state: Optional[Union[int, RandomState, Generator]] = None,
        restarts: Optional[int] = None,
        checkpoint: Optional[str] = None,
        missing: Optional[Literal["refuse", "mean", "median", "omit", "model"]] = None,
        totals: Optional[Union[float, Literal["median"]]] = None,
        log1p: Optional[bool] = None,
        top_variance: Optional[int] = None,
        regress: Optional[str] = None,
        noise_min: Optional[float] = None,
        normalize: Optional[Literal["none", "rms"]] = None,
        weight_init: Optional[float] = None,
        tolerance: Optional[float] = None,
        patience: Optional[int] = None,
        parameter_tolerance: Optional[float] = None,
        max_time: Optional[Union[float, str]] = None,
        precision: Optional[Literal["float32", "float64"]] = None,
        trace: Optional[bool] = None,
        drop_samples: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        checkpoint_every: Optional[Union[int, str]] = None,
        cache: Optional[Union[int, str]] = None,
        centre_samples: Optional[Literal["none", "mean", "median"]] = None,
        drop: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        centre: Optional[Literal["mean", "median", "none", "auto"]] = None,
        scale: Optional[Literal["none", "sd", "iqr"]] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        callback: Optional[Callable[[Progress], Optional[bool]]] = None,
        min_shared: float = 0.1,
        on_interrupt: Literal["raise", "stop"] = 'raise',
    ) -> None: ...


class FAJeffreys(Estimator):
    n_components: Any
    iterations: Any
    random_state: Any
    restarts: Any
    checkpoint: Any
    missing: Any
    totals: Any
    log1p: Any
    top_variance: Any
    regress: Any
    noise_min: Any
    normalize: Any
    weight_init: Any
    tolerance: Any
    patience: Any
    parameter_tolerance: Any
    max_time: Any
    precision: Any
    trace: Any
    drop_samples: Any
    checkpoint_every: Any
    cache: Any
    centre_samples: Any
    drop: Any
    centre: Any
    scale: Any

    def __init__(
        self,
        n_components: int = 10,
        *,
        iterations: Optional[int] = None,
        random_state: Optional[Union[int, RandomState, Generator]] = None,
        restarts: Optional[int] = None,
        checkpoint: Optional[str] = None,
        missing: Optional[Literal["refuse", "mean", "median", "omit", "model"]] = None,
        totals: Optional[Union[float, Literal["median"]]] = None,
        log1p: Optional[bool] = None,
        top_variance: Optional[int] = None,
        regress: Optional[str] = None,
        noise_min: Optional[float] = None,
        normalize: Optional[Literal["none", "rms"]] = None,
        weight_init: Optional[float] = None,
        tolerance: Optional[float] = None,
        patience: Optional[int] = None,
        parameter_tolerance: Optional[float] = None,
        max_time: Optional[Union[float, str]] = None,
        precision: Optional[Literal["float32", "float64"]] = None,
        trace: Optional[bool] = None,
        drop_samples: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        checkpoint_every: Optional[Union[int, str]] = None,
        cache: Optional[Union[int, str]] = None,
        centre_samples: Optional[Literal["none", "mean", "median"]] = None,
        drop: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        centre: Optional[Literal["mean", "median", "none", "auto"]] = None,
        scale: Optional[Literal["none", "sd", "iqr"]] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        callback: Optional[Callable[[Progress], Optional[bool]]] = None,
        min_shared: float = 0.1,
        on_interrupt: Literal["raise", "stop"] = 'raise',
    ) -> None: ...


class FABIA(Estimator):
    n_components: Any
    iterations: Any
    random_state: Any
    restarts: Any
    checkpoint: Any
    missing: Any
    totals: Any
    log1p: Any
    top_variance: Any
    regress: Any
    weight_decay: Any
    noise_min: Any
    normalize: Any
    weight_init: Any
    tolerance: Any
    patience: Any
    parameter_tolerance: Any
    max_time: Any
    precision: Any
    trace: Any
    drop_samples: Any
    checkpoint_every: Any
    cache: Any
    centre_samples: Any
    drop: Any
    centre: Any
    scale: Any

    def __init__(
        self,
        n_components: int = 10,
        *,
        iterations: Optional[int] = None,
        random_state: Optional[Union[int, RandomState, Generator]] = None,
        restarts: Optional[int] = None,
        checkpoint: Optional[str] = None,
        missing: Optional[Literal["refuse", "mean", "median", "omit", "model"]] = None,
        totals: Optional[Union[float, Literal["median"]]] = None,
        log1p: Optional[bool] = None,
        top_variance: Optional[int] = None,
        regress: Optional[str] = None,
        weight_decay: Optional[float] = None,
        noise_min: Optional[float] = None,
        normalize: Optional[Literal["none", "rms"]] = None,
        weight_init: Optional[float] = None,
        tolerance: Optional[float] = None,
        patience: Optional[int] = None,
        parameter_tolerance: Optional[float] = None,
        max_time: Optional[Union[float, str]] = None,
        precision: Optional[Literal["float32", "float64"]] = None,
        trace: Optional[bool] = None,
        drop_samples: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        checkpoint_every: Optional[Union[int, str]] = None,
        cache: Optional[Union[int, str]] = None,
        centre_samples: Optional[Literal["none", "mean", "median"]] = None,
        drop: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        centre: Optional[Literal["mean", "median", "none", "auto"]] = None,
        scale: Optional[Literal["none", "sd", "iqr"]] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        callback: Optional[Callable[[Progress], Optional[bool]]] = None,
        min_shared: float = 0.1,
        on_interrupt: Literal["raise", "stop"] = 'raise',
    ) -> None: ...


class NMF(Estimator):
    n_components: Any
    loss: Any
    iterations: Any
    random_state: Any
    restarts: Any
    checkpoint: Any
    missing: Any
    totals: Any
    log1p: Any
    top_variance: Any
    regress: Any
    solver: Any
    start: Any
    sweeps: Any
    tolerance: Any
    patience: Any
    parameter_tolerance: Any
    max_time: Any
    precision: Any
    trace: Any
    drop_samples: Any
    checkpoint_every: Any
    cache: Any
    centre_samples: Any
    drop: Any
    centre: Any
    scale: Any

    def __init__(
        self,
        n_components: int = 10,
        *,
        loss: Optional[Literal["frobenius", "kullback-leibler"]] = None,
        iterations: Optional[int] = None,
        random_state: Optional[Union[int, RandomState, Generator]] = None,
        restarts: Optional[int] = None,
        checkpoint: Optional[str] = None,
        missing: Optional[Literal["refuse", "mean", "median", "omit", "model"]] = None,
        totals: Optional[Union[float, Literal["median"]]] = None,
        log1p: Optional[bool] = None,
        top_variance: Optional[int] = None,
        regress: Optional[str] = None,
        solver: Optional[Literal["hals", "multiplicative"]] = None,
        start: Optional[Literal["auto", "nndsvda", "nndsvd", "random"]] = None,
        sweeps: Optional[int] = None,
        tolerance: Optional[float] = None,
        patience: Optional[int] = None,
        parameter_tolerance: Optional[float] = None,
        max_time: Optional[Union[float, str]] = None,
        precision: Optional[Literal["float32", "float64"]] = None,
        trace: Optional[bool] = None,
        drop_samples: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        checkpoint_every: Optional[Union[int, str]] = None,
        cache: Optional[Union[int, str]] = None,
        centre_samples: Optional[Literal["none", "mean", "median"]] = None,
        drop: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        centre: Optional[Literal["mean", "median", "none", "auto"]] = None,
        scale: Optional[Literal["none", "sd", "iqr"]] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        callback: Optional[Callable[[Progress], Optional[bool]]] = None,
        min_shared: float = 0.1,
        on_interrupt: Literal["raise", "stop"] = 'raise',
    ) -> None: ...


class KMeans(Clusters):
    n_components: Any
    iterations: Any
    random_state: Any
    restarts: Any
    checkpoint: Any
    missing: Any
    totals: Any
    log1p: Any
    top_variance: Any
    regress: Any
    tolerance: Any
    patience: Any
    parameter_tolerance: Any
    max_time: Any
    precision: Any
    trace: Any
    drop_samples: Any
    checkpoint_every: Any
    cache: Any
    centre_samples: Any
    drop: Any
    centre: Any
    scale: Any

    def __init__(
        self,
        n_components: int = 10,
        *,
        iterations: Optional[int] = None,
        random_state: Optional[Union[int, RandomState, Generator]] = None,
        restarts: Optional[int] = None,
        checkpoint: Optional[str] = None,
        missing: Optional[Literal["refuse", "mean", "median", "omit", "model"]] = None,
        totals: Optional[Union[float, Literal["median"]]] = None,
        log1p: Optional[bool] = None,
        top_variance: Optional[int] = None,
        regress: Optional[str] = None,
        tolerance: Optional[float] = None,
        patience: Optional[int] = None,
        parameter_tolerance: Optional[float] = None,
        max_time: Optional[Union[float, str]] = None,
        precision: Optional[Literal["float32", "float64"]] = None,
        trace: Optional[bool] = None,
        drop_samples: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        checkpoint_every: Optional[Union[int, str]] = None,
        cache: Optional[Union[int, str]] = None,
        centre_samples: Optional[Literal["none", "mean", "median"]] = None,
        drop: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        centre: Optional[Literal["mean", "median", "none", "auto"]] = None,
        scale: Optional[Literal["none", "sd", "iqr"]] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        callback: Optional[Callable[[Progress], Optional[bool]]] = None,
        min_shared: float = 0.1,
        on_interrupt: Literal["raise", "stop"] = 'raise',
    ) -> None: ...


class DAE(Batches):
    n_components: Any
    preset: Any
    corruption: Any
    iterations: Any
    random_state: Any
    restarts: Any
    checkpoint: Any
    missing: Any
    totals: Any
    log1p: Any
    top_variance: Any
    regress: Any
    eta: Any
    momentum: Any
    weights: Any
    weight_init: Any
    tolerance: Any
    patience: Any
    parameter_tolerance: Any
    max_time: Any
    precision: Any
    batch_size: Any
    keep_order: Any
    trace: Any
    drop_samples: Any
    checkpoint_every: Any
    cache: Any
    centre_samples: Any
    drop: Any
    centre: Any
    scale: Any

    def __init__(
        self,
        n_components: int = 10,
        *,
        preset: Optional[Literal["batches", "paper", "none"]] = None,
        corruption: Optional[float] = None,
        iterations: Optional[int] = None,
        random_state: Optional[Union[int, RandomState, Generator]] = None,
        restarts: Optional[int] = None,
        checkpoint: Optional[str] = None,
        missing: Optional[Literal["refuse", "mean", "median", "omit", "model"]] = None,
        totals: Optional[Union[float, Literal["median"]]] = None,
        log1p: Optional[bool] = None,
        top_variance: Optional[int] = None,
        regress: Optional[str] = None,
        eta: Optional[float] = None,
        momentum: Optional[float] = None,
        weights: Optional[Literal["tied", "untied"]] = None,
        weight_init: Optional[float] = None,
        tolerance: Optional[float] = None,
        patience: Optional[int] = None,
        parameter_tolerance: Optional[float] = None,
        max_time: Optional[Union[float, str]] = None,
        precision: Optional[Literal["float32", "float64"]] = None,
        batch_size: Optional[int] = None,
        keep_order: Optional[bool] = None,
        trace: Optional[bool] = None,
        drop_samples: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        checkpoint_every: Optional[Union[int, str]] = None,
        cache: Optional[Union[int, str]] = None,
        centre_samples: Optional[Literal["none", "mean", "median"]] = None,
        drop: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        centre: Optional[Literal["mean", "median", "none", "auto"]] = None,
        scale: Optional[Literal["none", "sd", "iqr"]] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        callback: Optional[Callable[[Progress], Optional[bool]]] = None,
        min_shared: float = 0.1,
        on_interrupt: Literal["raise", "stop"] = 'raise',
    ) -> None: ...


class RBM(Batches):
    n_components: Any
    preset: Any
    visible: Any
    iterations: Any
    random_state: Any
    restarts: Any
    checkpoint: Any
    missing: Any
    totals: Any
    log1p: Any
    top_variance: Any
    regress: Any
    eta: Any
    momentum: Any
    weight_init: Any
    tolerance: Any
    patience: Any
    parameter_tolerance: Any
    max_time: Any
    precision: Any
    batch_size: Any
    keep_order: Any
    trace: Any
    drop_samples: Any
    checkpoint_every: Any
    cache: Any
    centre_samples: Any
    drop: Any
    centre: Any
    scale: Any

    def __init__(
        self,
        n_components: int = 10,
        *,
        preset: Optional[Literal["batches", "paper", "none"]] = None,
        visible: Optional[Literal["gaussian", "binary"]] = None,
        iterations: Optional[int] = None,
        random_state: Optional[Union[int, RandomState, Generator]] = None,
        restarts: Optional[int] = None,
        checkpoint: Optional[str] = None,
        missing: Optional[Literal["refuse", "mean", "median", "omit", "model"]] = None,
        totals: Optional[Union[float, Literal["median"]]] = None,
        log1p: Optional[bool] = None,
        top_variance: Optional[int] = None,
        regress: Optional[str] = None,
        eta: Optional[float] = None,
        momentum: Optional[float] = None,
        weight_init: Optional[float] = None,
        tolerance: Optional[float] = None,
        patience: Optional[int] = None,
        parameter_tolerance: Optional[float] = None,
        max_time: Optional[Union[float, str]] = None,
        precision: Optional[Literal["float32", "float64"]] = None,
        batch_size: Optional[int] = None,
        keep_order: Optional[bool] = None,
        trace: Optional[bool] = None,
        drop_samples: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        checkpoint_every: Optional[Union[int, str]] = None,
        cache: Optional[Union[int, str]] = None,
        centre_samples: Optional[Literal["none", "mean", "median"]] = None,
        drop: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        centre: Optional[Literal["mean", "median", "none", "auto"]] = None,
        scale: Optional[Literal["none", "sd", "iqr"]] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        callback: Optional[Callable[[Progress], Optional[bool]]] = None,
        min_shared: float = 0.1,
        on_interrupt: Literal["raise", "stop"] = 'raise',
    ) -> None: ...


class NetClassifier(Classifies):
    layers: Any
    epochs: Any
    rate: Any
    dropout: Any
    random_state: Any
    missing: Any
    totals: Any
    log1p: Any
    top_variance: Any
    regress: Any
    filter: Any
    patience: Any
    batch_size: Any
    optimizer: Any
    momentum: Any
    schedule: Any
    rate_decay: Any
    rate_step: Any
    masking: Any
    weight_decay: Any
    class_weights: Any
    max_time: Any
    precision: Any
    checkpoint: Any
    checkpoint_every: Any
    centre_samples: Any
    drop: Any
    centre: Any
    scale: Any

    def __init__(
        self,
        *,
        layers: Optional[Union[int, str]] = None,
        epochs: Optional[int] = None,
        rate: Optional[float] = None,
        dropout: Optional[float] = None,
        random_state: Optional[Union[int, RandomState, Generator]] = None,
        missing: Optional[Literal["refuse", "mean", "median", "omit", "model"]] = None,
        totals: Optional[Union[float, Literal["median"]]] = None,
        log1p: Optional[bool] = None,
        top_variance: Optional[int] = None,
        regress: Optional[str] = None,
        filter: Optional[Literal["posterior", "plain", "rescaled"]] = None,
        patience: Optional[int] = None,
        batch_size: Optional[int] = None,
        optimizer: Optional[Literal["sgd", "nesterov", "adam"]] = None,
        momentum: Optional[float] = None,
        schedule: Optional[Literal["constant", "step", "exponential", "cosine"]] = None,
        rate_decay: Optional[float] = None,
        rate_step: Optional[int] = None,
        masking: Optional[float] = None,
        weight_decay: Optional[float] = None,
        class_weights: Optional[str] = None,
        max_time: Optional[Union[float, str]] = None,
        precision: Optional[Literal["float32", "float64"]] = None,
        checkpoint: Optional[str] = None,
        checkpoint_every: Optional[Union[int, str]] = None,
        centre_samples: Optional[Literal["none", "mean", "median"]] = None,
        drop: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        centre: Optional[Literal["mean", "median", "none", "auto"]] = None,
        scale: Optional[Literal["none", "sd", "iqr"]] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        callback: Optional[Callable[[Progress], Optional[bool]]] = None,
        min_shared: float = 0.1,
        on_interrupt: Literal["raise", "stop"] = 'raise',
    ) -> None: ...


class NetRegressor(Regresses):
    layers: Any
    epochs: Any
    rate: Any
    dropout: Any
    random_state: Any
    missing: Any
    totals: Any
    log1p: Any
    top_variance: Any
    regress: Any
    filter: Any
    patience: Any
    batch_size: Any
    optimizer: Any
    momentum: Any
    schedule: Any
    rate_decay: Any
    rate_step: Any
    masking: Any
    weight_decay: Any
    class_weights: Any
    max_time: Any
    precision: Any
    checkpoint: Any
    checkpoint_every: Any
    centre_samples: Any
    drop: Any
    centre: Any
    scale: Any

    def __init__(
        self,
        *,
        layers: Optional[Union[int, str]] = None,
        epochs: Optional[int] = None,
        rate: Optional[float] = None,
        dropout: Optional[float] = None,
        random_state: Optional[Union[int, RandomState, Generator]] = None,
        missing: Optional[Literal["refuse", "mean", "median", "omit", "model"]] = None,
        totals: Optional[Union[float, Literal["median"]]] = None,
        log1p: Optional[bool] = None,
        top_variance: Optional[int] = None,
        regress: Optional[str] = None,
        filter: Optional[Literal["posterior", "plain", "rescaled"]] = None,
        patience: Optional[int] = None,
        batch_size: Optional[int] = None,
        optimizer: Optional[Literal["sgd", "nesterov", "adam"]] = None,
        momentum: Optional[float] = None,
        schedule: Optional[Literal["constant", "step", "exponential", "cosine"]] = None,
        rate_decay: Optional[float] = None,
        rate_step: Optional[int] = None,
        masking: Optional[float] = None,
        weight_decay: Optional[float] = None,
        class_weights: Optional[str] = None,
        max_time: Optional[Union[float, str]] = None,
        precision: Optional[Literal["float32", "float64"]] = None,
        checkpoint: Optional[str] = None,
        checkpoint_every: Optional[Union[int, str]] = None,
        centre_samples: Optional[Literal["none", "mean", "median"]] = None,
        drop: Optional[Literal["none", "constant", "duplicates", "duplicates,constant", "constant,duplicates"]] = None,
        centre: Optional[Literal["mean", "median", "none", "auto"]] = None,
        scale: Optional[Literal["none", "sd", "iqr"]] = None,
        n_jobs: Optional[int] = None,
        verbose: int = 0,
        callback: Optional[Callable[[Progress], Optional[bool]]] = None,
        min_shared: float = 0.1,
        on_interrupt: Literal["raise", "stop"] = 'raise',
    ) -> None: ...


__all__ = [
    "CLASSES",
    "load",
    "RFN",
    "LinCA",
    "NMFET",
    "MCA",
    "SSC",
    "PCA",
    "ICA",
    "FA",
    "SFA",
    "FALaplace",
    "FAJeffreys",
    "FABIA",
    "NMF",
    "KMeans",
    "DAE",
    "RBM",
]
