# %% [markdown]
# # Five minutes in Python
#
# The README's five minutes, on the same 700 blood cells x 765 genes. In a checkout with the package
# installed ([python.md](../../howto/python.md)) this page runs as a script, `examples/python/five_minutes.py`, cell
# by cell in an editor that knows `# %%`, or as a whole.

# %%
import pandas as pd
import rarebit

data = "examples/data/pbmc700"
cells = pd.read_csv(f"{data}/expr.tsv.gz", sep="\t", index_col=0)
types = pd.read_csv(f"{data}/labels.tsv", sep="\t", index_col=0).iloc[:, 0].reindex(cells.index)
cells.iloc[:3, :5].round(2)

# %% [markdown]
# ## How many units?
#
# Fits of 10, 15 and 20 units, each from another start and without another third of the cells: units that
# come back are stable ([select.md](../../howto/select.md)).

# %%
start = rarebit.RFN(random_state=1, iterations=100, n_jobs=2)
choice = rarebit.select(start, cells)
print(choice)
choice.table[["stable", "held_out", "match", "used"]].round({"held_out": 1, "match": 2, "used": 1})

# %% [markdown]
# ## A fit
#
# Three units more than are stable, for what these leave. Parameters are the options of `rarebit help fit rfn`,
# with underscores.

# %%
rfn = rarebit.RFN(11, random_state=1).fit(cells)
codes = rfn.transform(cells)
measured = rfn.evaluate(cells)
print(f"{measured['variance_explained']:.1%} of the variance in {codes.shape[1]} numbers a cell, "
      f"{measured['sparseness']:.0%} of them 0")

# %%
rarebit.pl.history(rfn)

# %% [markdown]
# The objective climbs for 50 iterations, falls while the loadings are shrunk, and levels off.
#
# ## Which come back in every fit?
#
# What ten fits from different starts have in common, the most stable units first
# ([consensus.md](../../howto/consensus.md)).

# %%
stable = rarebit.consensus(rfn, cells, restarts=10)
print(stable.stability_.round(2))

# %% [markdown]
# ## What was found
#
# A module is a set of cells and the genes that are up or down in them together
# ([modules.md](../../howto/modules.md)).

# %%
rarebit.modules(rfn, cells)[["samples", "features", "up"]]

# %% [markdown]
# The fit has never seen the cell types. Here are the cells of each module by type, for the types that are
# most of some module:

# %%
members = rarebit.modules(rfn, cells, members=True).query("kind == 'sample'")
by_type = pd.crosstab(members["unit"], members["name"].map(types))
by_type.loc[:, by_type.idxmax(axis=1).unique()]

# %%
rarebit.pl.modules(rfn, cells, labels=types)

# %% [markdown]
# Each frame is a module: its genes meet its cells. The strip above has the known types.
#
# ## Into scanpy
#
# `rarebit.tl` works on AnnData, and writes what `rarebit encode` writes into an `.h5ad`:
# `sc.pp.neighbors(adata, use_rep="X_rfn")` goes on from there.

# %%
import anndata

adata = anndata.AnnData(cells.astype("float32"))
rarebit.tl.rfn(adata, 11, random_state=1)
adata
