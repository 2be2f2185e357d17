"""Exported layers: logits in PyTorch within 1e-5, graphs by the ONNX checker and node by node, nets that come back."""

import os
import subprocess
import sys

import h5py
import numpy as np
import onnx
import torch
from onnx import numpy_helper

tool, work = sys.argv[1:3]
os.chdir(work)
rng = np.random.default_rng(1)


def run(*words, status=0):
    done = subprocess.run([tool, *words], capture_output=True, text=True)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stderr


def close(a, b, what, tolerance=1e-5):
    worst = np.abs(np.asarray(a, float) - np.asarray(b, float)).max()
    print(f"{what}: {worst:.2g}")
    assert worst <= tolerance, (what, worst)


# ---- data of four classes, and models of them ----

n, m = 300, 12
y = rng.integers(0, 4, n)
x = rng.gamma(2, 3, (n, m)) + 4 * np.eye(4)[y] @ rng.random((4, m))
np.save("x.npy", x)
np.savetxt("y.txt", y, "c%d")
np.save("t.npy", (rng.random((n, 3)) < 0.4).astype(float))
lacking = x.copy()
lacking[rng.random(x.shape) < 0.1] = np.nan
np.save("lacking.npy", lacking)

small = ["--epochs", "4", "--seed", "3", "-q"]
run("finetune", "none", "x.npy", "--labels", "y.txt", "--layers", "16,8", "--scale", "sd", *small, "-o", "softmax.h5")
run("finetune", "none", "x.npy", "--labels", "y.txt", "--layers", "16", "--precision", "float64", "--totals", "100",
    "--log1p", "--top-variance", "9", *small, "-o", "counts.h5")
run("finetune", "none", "lacking.npy", "--labels", "y.txt", "--layers", "8", "--missing", "median", *small, "-o",
    "filled.h5")
run("finetune", "none", "lacking.npy", "--labels", "y.txt", "--layers", "8", "--missing", "mean", "--totals", "50",
    *small, "-o", "both.h5")
for outputs in "logistic", "linear":
    run("finetune", "none", "x.npy", "--targets", "t.npy", "--outputs", outputs, "--layers", "8", *small, "-o",
        outputs + ".h5")
run("fit", "rfn", "x.npy", "-k", "6", "--estep", "newton", "--iterations", "30", "--seed", "1", "-q", "-o", "rfn.h5")
run("fit", "rfn", "x.npy", "-k", "6", "--estep", "cyclic", "--iterations", "30", "--seed", "1", "-q", "-o", "cyclic.h5")
run("stack", "rfn", "x.npy", "--units", "6,4", "--estep", "newton", "--centre", "median", "--iterations", "30", "--seed", "1",
    "-q", "-o", "stack.h5")


# ---- .npz in PyTorch ----

def module(npz):
    """The layers of an export as PyTorch has them, for preprocessed samples."""
    layers = []
    for k in range(1, 17):
        if f"weights{k}" not in npz:
            break
        w, b = npz[f"weights{k}"], npz[f"bias{k}"]
        linear = torch.nn.Linear(w.shape[1], w.shape[0], dtype=torch.from_numpy(w).dtype)
        linear.load_state_dict({"weight": torch.from_numpy(w), "bias": torch.from_numpy(b)})
        layers += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def prepared(npz, rows):
    if "totals" in npz:
        rows = rows * npz["totals"] / np.nansum(rows, 1, keepdims=True)
    if "log1p" in npz:
        rows = np.log1p(rows)
    if "selected" in npz:
        rows = rows[:, npz["selected"].astype(int)]
    if "fill" in npz:
        rows = np.where(np.isnan(rows), npz["fill"], rows)
    return torch.from_numpy((rows - npz["centre"]) / npz["scale"]).to(torch.from_numpy(npz["weights1"]).dtype)


def outputs_of(name, rows):
    """What rarebit says, and its logits in float64 from the arrays of the model."""
    run("encode", name + ".h5", rows, "-o", "said.npy", "-q")
    return np.load("said.npy")


nets = {"softmax": "x.npy", "counts": "x.npy", "filled": "lacking.npy", "both": "lacking.npy", "logistic": "x.npy",
        "linear": "x.npy"}
for name, data in nets.items():
    run("export", name + ".h5", "-o", name + ".npz", "-q")
    npz, rows = np.load(name + ".npz"), np.load(data)
    with torch.no_grad():
        logits = module(npz)(prepared(npz, rows)).double()
    with h5py.File(name + ".h5") as h5:
        a = prepared(npz, rows).double().numpy()
        count = sum(key.startswith("weights") for key in h5["arrays"])
        for k in range(1, count + 1):
            a = a @ h5[f"arrays/weights{k}"][()].T + h5[f"arrays/bias{k}"][()].T
            a = np.maximum(a, 0) if k < count else a
    close(logits, a, f"{name}: logits")
    said = {"logistic": torch.sigmoid, "linear": lambda z: z}.get(name, lambda z: torch.softmax(z, 1))(logits)
    close(said, outputs_of(name, data), f"{name}: outputs")
assert list(np.load("softmax.npz")["classes"]) == ["c0", "c1", "c2", "c3"]

for name in "rfn", "stack":
    assert "warning" not in run("export", name + ".h5", "-o", name + ".npz")
    npz = np.load(name + ".npz")
    with torch.no_grad():
        codes = torch.relu(module(npz)(prepared(npz, x)))
    close(codes, outputs_of(name, "x.npy"), f"{name}: codes")
assert "warning" in run("export", "cyclic.h5", "-o", "cyclic.npz")
run("export", "rfn.h5", "--filter", "plain", "-o", "plain.npz", "-q")
close((np.load("plain.npz")["weights1"] ** 2).sum(1), 2, "plain: squared lengths")


# ---- ONNX ----

def value(name):
    return {"Gather": lambda a, i: a[:, i], "IsNaN": np.isnan, "Where": np.where, "Max": np.maximum,
            "ReduceSum": lambda a, axis: a.sum(axis[0], keepdims=True), "Mul": np.multiply, "Add": np.add, "Log": np.log,
            "Sub": np.subtract, "Div": np.divide, "Relu": lambda a: np.maximum(a, 0),
            "Gemm": lambda a, w, b: a @ w.T + b, "Sigmoid": lambda a: 1 / (1 + np.exp(-a)),
            "Softmax": lambda a: torch.softmax(torch.from_numpy(a), 1).numpy()}[name]


def graph(path, rows):
    """The outputs of a graph, node by node, all numbers in its own type."""
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    assert model.producer_name == "rarebit" and model.producer_version
    values = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    dtype = values["centre"].dtype
    assert [i.name for i in model.graph.input] == ["samples"]
    values["samples"] = rows.astype(dtype)
    for node in model.graph.node:
        values[node.output[0]] = value(node.op_type)(*[values[i] for i in node.input])
        assert values[node.output[0]].dtype in (dtype, bool), node
    return [values[o.name] for o in model.graph.output], [o.name for o in model.graph.output]


for name, data in {**nets, "rfn": "x.npy", "stack": "x.npy"}.items():
    run("export", name + ".h5", "-o", name + ".onnx", "-q")
    got, names = graph(name + ".onnx", np.load(data))
    close(got[-1], outputs_of(name, data), f"{name}: graph")
    if name == "softmax":
        assert names == ["logits", "probabilities"], names
        npz = np.load("softmax.npz")
        with torch.no_grad():
            close(got[0], module(npz)(prepared(npz, x)), "softmax: logits of the graph")


# ---- back ----

def same_outputs(a, b, data="x.npy"):
    close(outputs_of(a, data), outputs_of(b, data), f"{a} and {b}", 0)


for name in nets:
    for suffix in ["npz", "onnx"]:
        run("import", f"{name}.{suffix}", "--like", name + ".h5", "-o", "back.h5", "-q")
        same_outputs("back", name, nets[name])

# Fine-tuned in PyTorch, saved by its own names, packed and not; by its own export to ONNX.
npz = np.load("softmax.npz")
net, inputs = module(npz), prepared(npz, x)
step = torch.optim.SGD(net.parameters(), 0.05)
for _ in range(30):
    loss = torch.nn.functional.cross_entropy(net(inputs), torch.from_numpy(y))
    step.zero_grad()
    loss.backward()
    step.step()
with torch.no_grad():
    wanted = torch.softmax(net(inputs), 1).numpy()
state = {key: values.numpy() for key, values in net.state_dict().items()}
np.savez("tuned.npz", **state)
np.savez_compressed("packed.npz", **state, centre=npz["centre"], scale=npz["scale"])
np.savez("fortran.npz", **{key: np.asfortranarray(values.astype(float)) for key, values in state.items()})
files = ["tuned.npz", "packed.npz", "fortran.npz"]
torch.onnx.export(net, inputs, "tuned.onnx", opset_version=13)
files.append("tuned.onnx")
whole = torch.nn.Sequential(*net, torch.nn.Softmax(1))
torch.onnx.export(whole, inputs, "whole.onnx", opset_version=13)
files.append("whole.onnx")
for path in files:
    run("import", path, "--like", "softmax.h5", "-o", "tuned.h5", "-q")
    close(outputs_of("tuned", "x.npy"), wanted, path)
said = run("evaluate", "tuned.h5", "x.npy", "--labels", "y.txt")


# ---- what is refused, in a sentence ----

def refused(words, path, like="softmax.h5", status=1):
    said = run("import", path, "--like", like, "-o", "no.h5", status=status)
    assert words in said and said.count("\n") == 1, said
    assert not os.path.exists("no.h5")


def changed(name, **arrays):
    np.savez(name, **{**state, **arrays})
    return name


refused("layer 1 of the net is 16 x 12 and 16", changed("shape.npz", **{"0.weight": np.zeros((12, 16), np.float32)}))
refused("has an array 'extra'", changed("extra.npz", extra=np.zeros(3)))
refused("and the net differ in centre", changed("centre.npz", centre=npz["centre"] + 1))
refused("not finite", changed("infinite.npz", **{"2.bias": np.full(8, np.inf)}))
refused("has 2 layers, but the net has 3", "counts.npz")
np.savez("bias.npz", **{key: values for key, values in state.items() if key != "4.bias"})
refused("lacks the bias of layer 3", "bias.npz")
refused("imported into a net only", "tuned.npz", "rfn.h5", 2)
with open("none.npz", "wb") as file:
    file.write(b"not a zip file at all" * 10)
refused("not a sound .npz", "none.npz")
tanh = torch.nn.Sequential(net[0], torch.nn.Tanh(), *list(net)[2:])
torch.onnx.export(tanh, inputs, "tanh.onnx", opset_version=13)
refused("a node 'Tanh'", "tanh.onnx")

# Damaged at any place: a sentence, or the same numbers, never a crash.
for path in ["softmax.npz", "packed.npz", "softmax.onnx"]:
    whole = open(path, "rb").read()
    suffix = path.split(".")[1]
    for i in range(60):
        damaged = bytearray(whole[: rng.integers(1, len(whole))] if i % 3 == 0 else whole)
        for at in rng.integers(0, len(damaged), 4):
            damaged[at] ^= 1 << rng.integers(0, 8)
        open("damaged." + suffix, "wb").write(damaged)
        done = subprocess.run([tool, "import", "damaged." + suffix, "--like", "softmax.h5", "-o", "damaged.h5"],
                              capture_output=True, text=True)
        assert done.returncode in (0, 1) and done.stderr, (path, i, done)
