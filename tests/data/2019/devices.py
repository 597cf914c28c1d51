#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes devices.csv.gz: the printed layer times of the original Benanza (rai-project/dlperf), a line a layer, a column a GPU.

    devices.py FOLDER        with b1.csv.gz, b8.csv.gz and b32.csv.gz: gpu,batch,model,layer,kind,time_ms,flops

The rows of one layer (a convolution and the addition of its bias) are added up. MNIST is left out.
"""
import csv
import gzip
import pathlib
import sys

GPUS = ["Tesla_V100-SXM2-16GB", "Tesla_T4", "TITAN_Xp", "Tesla_K80"]
layers = {}
for batch in (1, 8, 32):
    with gzip.open(pathlib.Path(sys.argv[1]) / f"b{batch}.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            if row["model"] == "MNIST":
                continue
            key = (row["model"], row["batch"], row["layer"])
            layer = layers.setdefault(key, {"kind": row["kind"], "flops": row["flops"], **dict.fromkeys(GPUS, 0)})
            layer[row["gpu"]] += round(float(row["time_ms"]) * 1e6)
text = "model,batch,layer,kind,flops," + ",".join(f"{gpu} ns" for gpu in GPUS) + "\n"
for (model, batch, name), layer in sorted(layers.items()):
    text += ",".join([model, batch, name, layer["kind"], layer["flops"], *(str(layer[gpu]) for gpu in GPUS)]) + "\n"
with gzip.GzipFile(pathlib.Path(__file__).parent / "devices.csv.gz", "wb", compresslevel=9, mtime=0) as file:
    file.write(text.encode())
