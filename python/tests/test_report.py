"""rarebit.report: classes, sets of features and covariates, as the program tells them."""

import json

import numpy as np
import pandas as pd
import pytest
import rarebit

KEYS = {"classes": "classes", "best_units": "best_units", "unit_classes": "unit_classes",
        "covariates": "covariate_tests"}


@pytest.fixture
def study():
    """A fit to planted types: the table, a class and covariates of each sample, sets of features."""
    X, rows, columns = rarebit.simulate.cells(90, 60, types="0.5,0.3,0.2", de_probability=0.4,
                                            de_scale=1, random_state=2)
    table = pd.DataFrame(np.log1p(X), columns=[f"g{k}" for k in range(60)],
                         index=[f"s{i}" for i in range(90)])
    beside = pd.DataFrame({"age": np.linspace(20, 60, 90), "batch": np.arange(90) % 2,
                           "type": rows.argmax(axis=0).astype(str)}, index=table.index)
    beside.loc["s4", "type"] = None
    sets = {f"genes{k}": list(table.columns[column]) for k, column in enumerate(columns)}
    return rarebit.RFN(4, random_state=1, iterations=30).fit(table), table, beside, sets


def agree(frame, told):
    assert len(frame) == len(told) > 0
    for row, (_, here) in zip(told, frame.iterrows()):
        for key, value in row.items():
            if isinstance(value, (int, float)):
                assert here[key] == pytest.approx(value, rel=1e-6, abs=1e-9), key
            elif isinstance(value, str):
                assert here[key] == value


def test_the_program_says_the_same(study, program, tmp_path):
    fitted, table, beside, sets = study
    fitted.save(tmp_path / "m.h5")
    table.to_csv(tmp_path / "x.tsv", sep="\t")
    beside[["type"]].to_csv(tmp_path / "types.tsv", sep="\t")
    beside[["age", "batch"]].to_csv(tmp_path / "samples.tsv", sep="\t")
    (tmp_path / "sets.gmt").write_text("".join(f"{name}\t-\t" + "\t".join(of) + "\n"
                                               for name, of in sets.items()))
    told = json.loads(program(
        "modules", tmp_path / "m.h5", tmp_path / "x.tsv", "--labels", tmp_path / "types.tsv",
        "--gmt", tmp_path / "sets.gmt", "--covariates", tmp_path / "samples.tsv",
        "--covariate-groups", "batch", "--json", "-q"))
    asked = {"labels": beside["type"], "covariates": beside[["age", "batch"]],
             "covariate_groups": ["batch"]}
    found = rarebit.report(fitted, table, sets=sets, **asked)
    for here, there in KEYS.items():
        agree(getattr(found, here), told[there])
    by_file = rarebit.report(fitted, table, sets=tmp_path / "sets.gmt", **asked).sets
    assert by_file.equals(found.sets) and len(by_file) == len(told["feature_sets"]["tests"])
    assert set(found.sets["features"].dropna()[0].split()) <= set(table.columns)
    assert found.metrics == pytest.approx({**fitted.evaluate(table),
                                           "units_of_level": found.metrics["units_of_level"]})


def test_units_mark_planted_types(study):
    fitted, table, beside, sets = study
    found = rarebit.report(fitted, table, labels=beside["type"], sets=sets, permutations=19)
    assert found.best_units["auc"].min() > 0.9
    assert found.covariates is None and "p" in found.modules and "kind" in found.members
    assert found.members["name"].isin([*table.index, *table.columns]).all()


def test_a_page_is_that_of_the_program(study, program, tmp_path):
    """But for what files and options are called, and how the program was called."""
    fitted, table, beside, _ = study
    fitted.save(tmp_path / "m.h5")
    table.to_csv(tmp_path / "x.tsv", sep="\t")
    program("report", tmp_path / "m.h5", tmp_path / "x.tsv", "--title", "Types", "-q", "-o",
            tmp_path / "there.html")
    rarebit.report(fitted, str(tmp_path / "x.tsv"), page=tmp_path / "here.html", title="Types")
    here, there = ((tmp_path / f"{name}.html").read_text() for name in ("here", "there"))
    (head, here), (same, there) = (text.split('<script type="application/json" id="document">')
                                   for text in (here, there))
    assert head == same
    here, there = (json.loads(text.split("</script>")[0]) for text in (here, there))
    assert here.keys() == there.keys()
    for key in here.keys() - {"command", "model", "build", "notes", "warnings"}:
        assert here[key] == there[key], key
    rarebit.report(fitted, table, labels=beside["type"], page=tmp_path / "labels.html")
    assert '"file":"labels"' in (tmp_path / "labels.html").read_text()
    with pytest.raises(OSError, match="nowhere"):
        rarebit.report(fitted, table, page=tmp_path / "nowhere" / "page.html")


def test_columns_of_obs(study):
    anndata = pytest.importorskip("anndata")
    fitted, table, beside, _ = study
    adata = anndata.AnnData(table.astype("float32"), obs=beside.astype({"type": "object"}))
    found = rarebit.report(fitted, adata, labels="type", covariates=["age"])
    with pytest.raises(KeyError, match="obs has no column 'typ'; it has age, batch, type"):
        rarebit.report(fitted, adata, labels="typ")
    assert set(found.covariates["covariate"]) == {"age"} and len(found.best_units) == 3


def test_what_is_refused(study):
    fitted, table, beside, _ = study
    with pytest.raises(ValueError, match="5 values"):
        rarebit.report(fitted, table, covariates={"a": np.arange(90), "b": np.arange(5)})
    with pytest.raises(ValueError, match="^there are 90 samples, but labels for 1$"):
        rarebit.report(fitted, table, labels=["a"])
    with pytest.raises(ValueError, match="^there are 90 samples, but covariates for 50$"):
        rarebit.report(fitted, table, covariates={"age": beside["age"][:50]})
    for groups in ("nosuch", ["age", "nosuch"], "ag"):
        with pytest.raises(ValueError, match="^covariate_groups names '.*', but there .* age, batch$"):
            rarebit.report(fitted, table, covariates=beside[["age", "batch"]], covariate_groups=groups)
    with pytest.raises(ValueError, match="^labels names 'type', but X has no obs: give a value for"):
        rarebit.report(fitted, table, labels="type")
    with pytest.raises(ValueError, match="^covariates names 'age', but X has no obs: give a value for"):
        rarebit.report(fitted, table, covariates=["age"])
    with pytest.raises(ValueError, match="set"):
        rarebit.report(fitted, table, sets={"other": ["x", "y"]})
