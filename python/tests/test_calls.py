"""Ctrl-C, callbacks, what is printed, threads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rarebit
from rarebit import LinCA, RFN
from rarebit import _estimators

quiet = pytest.mark.filterwarnings("ignore:.*:UserWarning")


@pytest.fixture
def long():
    """Samples of which an iteration takes a while."""
    return np.random.default_rng(0).random((20000, 500), dtype="f")


@pytest.fixture
def ctrl_c():
    """Sends the signal of Ctrl-C after a time; `sent` says when it was."""
    class Sender:
        def after(self, seconds):
            def send():
                time.sleep(seconds)
                self.sent = time.monotonic()
                os.kill(os.getpid(), signal.SIGINT)
            threading.Thread(target=send).start()

    _estimators.Estimator._interrupted = float("-inf")
    return Sender()


def test_ctrl_c_leaves_a_usable_model(long, ctrl_c):
    def soon(progress):
        if progress.iteration == 1:
            ctrl_c.after(0.1)

    rfn, took = RFN(20, iterations=10**6, callback=soon), []
    for _ in range(3):  # the machine may be busy
        with pytest.raises(KeyboardInterrupt, match="stopped by Ctrl-C after [0-9]+ iterations"):
            rfn.fit(long)
        took.append(time.monotonic() - ctrl_c.sent)
        if took[-1] < 0.5:
            break
    assert min(took) < 0.5
    assert rfn.status_ == "stopped" and rfn.n_iter_ >= 1
    assert rfn.transform(long[:5]).shape == (5, 20)


def test_ctrl_c_ends_a_search(long, ctrl_c):
    def soon(progress):
        if progress.iteration == 1 and not hasattr(ctrl_c, "sent"):
            ctrl_c.after(0)

    search = GridSearchCV(RFN(5, iterations=10**6, max_time=1, callback=soon), {"eta": [0.5, 1.0]},
                          cv=2)
    with pytest.raises(KeyboardInterrupt):
        search.fit(long)
    assert not hasattr(search, "best_params_")


def test_a_program_may_go_on_after_ctrl_c(long, ctrl_c):
    def soon(progress):
        if progress.iteration == 1:
            ctrl_c.after(0.05)

    rfn = RFN(5, iterations=10**6, callback=soon, on_interrupt="stop")
    with pytest.warns(ConvergenceWarning, match="stopped by Ctrl-C after [0-9]+ iterations"):
        assert rfn.fit(long) is rfn
    assert rfn.status_ == "stopped"
    with pytest.raises(ValueError, match='^on_interrupt is \'go\', but must be "raise" or "stop"$'):
        RFN(5, on_interrupt="go").fit(long)


def test_ctrl_c_twice_is_as_everywhere(long, ctrl_c):
    def soon(progress):
        if progress.iteration == 1:
            ctrl_c.after(0.05)

    rfn = RFN(5, iterations=10**6, callback=soon, on_interrupt="stop")
    with pytest.warns(ConvergenceWarning):
        rfn.fit(long)
    with pytest.raises(KeyboardInterrupt):
        rfn.fit(long)
    assert rfn.status_ == "stopped"


def test_ctrl_c_ends_what_has_no_result(long, ctrl_c):
    rfn = RFN(5, iterations=2).fit(long[:200])

    def rows(first, count):
        if first == 0:
            ctrl_c.after(0)
        time.sleep(0.05)
        return long[first:first + count]

    with pytest.raises(KeyboardInterrupt):
        rfn.transform(rarebit.stream(rows, *long.shape))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer")
def test_other_handlers_raise_what_they_raise(long):
    def handler(*_):
        raise TimeoutError("it took too long")

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(TimeoutError, match="too long"):
            RFN(5, iterations=10**6).fit(long)
    finally:
        signal.signal(signal.SIGALRM, before)


@quiet
def test_a_callback_sees_iterations_and_ends_a_fit(X):
    seen = []

    def callback(progress):
        assert threading.current_thread() is threading.main_thread()
        seen.append(progress)
        return progress.iteration == 4

    rfn = RFN(3, trace=True, callback=callback).fit(X)
    assert [p.iteration for p in seen] == [1, 2, 3, 4] and seen[0].iterations == 200
    assert rfn.status_ == "stopped" and rfn.n_iter_ == 4
    assert [p.objective for p in seen] == list(rfn.history_["objective"])
    assert seen[0].metrics.keys() == {"kkt_residual", "estep_stage", "prior_mean"}


def test_an_exception_of_a_callback_comes_out(X):
    with pytest.raises(ZeroDivisionError):
        RFN(3, callback=lambda progress: 1 / 0).fit(X)
    with ThreadPoolExecutor() as pool, pytest.raises(ZeroDivisionError):
        pool.submit(RFN(3, callback=lambda progress: 1 / 0).fit, X).result()


@quiet
def test_verbose_prints(X, capfd, monkeypatch):
    RFN(3, iterations=3).fit(X)
    assert capfd.readouterr() == ("", "")
    RFN(3, iterations=3, verbose=2).fit(X)
    assert "iteration 2 of 3" in capfd.readouterr().out
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    RFN(3, iterations=300, parameter_tolerance=0, verbose=1).fit(X)
    out = capfd.readouterr().out
    assert "iteration 300 of 300" in out and "iteration 2 of" not in out


@quiet
def test_progress_is_a_bar_of_tqdm(X, capfd):
    pytest.importorskip("tqdm")
    RFN(3, iterations=300, parameter_tolerance=0, verbose=1).fit(X)
    out, err = capfd.readouterr()
    assert "300/300" in err and "objective=" in err and "300 of 300" not in out


@quiet
def test_messages_and_iterations_are_logged(X, caplog, capfd):
    with caplog.at_level("DEBUG", logger="rarebit"):
        fitted = RFN(3, iterations=4, drop="constant").fit(np.c_[X, np.ones(len(X))])
    told = [(record.levelname, record.message) for record in caplog.records]
    assert sum(level == "DEBUG" and "of 4" in said for level, said in told) == fitted.n_iter_ == 4
    assert any(level == "INFO" for level, _ in told)
    assert capfd.readouterr() == ("", "")


@quiet
def test_any_number_of_threads_gives_the_same_bits(X):
    for made in (RFN, LinCA):
        one, two, more = (made(3, iterations=10, n_jobs=n).fit(X) for n in (None, 2, -1))
        assert np.array_equal(one.components_, two.components_)
        assert np.array_equal(one.components_, more.components_)
        assert np.array_equal(one.transform(X), more.transform(X))


@quiet
def test_two_fits_at_once_give_the_bits_of_one_after_the_other():
    random = np.random.default_rng(2)
    X, Y = random.random((3000, 60), dtype="f"), random.random((2500, 80))

    def fit(made, data):
        return made(8, iterations=30).fit(data).transform(data)

    jobs = [(RFN, X), (RFN, Y), (LinCA, X), (RFN, X)]
    alone = [fit(*job) for job in jobs]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda job: fit(*job), jobs))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together))


def test_other_threads_go_on_while_a_fit_runs(long):
    """The global lock of the interpreter is released."""
    worker = threading.Thread(target=RFN(20, iterations=20).fit, args=(long,))
    worker.start()
    turns, longest, last = 0, 0.0, time.monotonic()
    while worker.is_alive():
        time.sleep(0.001)
        now = time.monotonic()
        turns, longest, last = turns + 1, max(longest, now - last), now
    assert turns > 20


@quiet
def test_without_another_thread_a_fit_runs_on_this_one(X, monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("_thread.start_new_thread", refuse)
    seen = []
    assert RFN(3, iterations=5, callback=seen.append).fit(X).n_iter_ == len(seen) == 5


def test_nets_that_get_no_memory_are_an_error(X, monkeypatch):
    class Nets:
        rb_nets_use = staticmethod(lambda context: 1)

    monkeypatch.setattr("rarebit._context.nets", Nets)
    with pytest.raises(MemoryError):
        RFN(3, iterations=5).fit(X)


@quiet
def test_one_stream_in_two_threads(X):
    stream = rarebit.stream(lambda first, count: X[first:first + count], *X.shape, dtype=float)
    expected = RFN(3, iterations=50).fit(X).components_
    with ThreadPoolExecutor(4) as pool:
        fits = list(pool.map(lambda _: RFN(3, iterations=50).fit(stream), range(4)))
    assert all(np.array_equal(fitted.components_, expected) for fitted in fits)


def test_a_forked_child_fits_too():
    code = ("import os, numpy as np, rarebit\n"
            "X = np.random.default_rng(0).random((50, 4))\n"
            "rarebit.PCA(2, n_jobs=2).fit(X)\n"
            "pid = os.fork()\n"
            "a = rarebit.PCA(2, n_jobs=2).fit(X)\n"
            "os._exit(0) if pid == 0 else exit(os.waitpid(pid, 0)[1])\n")
    assert subprocess.run([sys.executable, "-B", "-c", code], timeout=60).returncode == 0


def test_warnings_name_the_line_of_the_caller(X):
    _estimators._tell_of_precision.cache_clear()
    with pytest.warns(UserWarning) as told:
        rfn = RFN(3, iterations=5).fit(X)
        make_pipeline(StandardScaler(), RFN(12, iterations=2, precision="float32")).fit(X)
        make_pipeline(RFN(12, iterations=2, precision="float32"), StandardScaler()).fit(X)
        rarebit.pl.history(rfn)
    assert {one.filename for one in told} == {__file__}, [(one.filename, one.message) for one in told]
