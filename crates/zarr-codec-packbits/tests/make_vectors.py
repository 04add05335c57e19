"""Makes vectors.json: 200 chunks as numcodecs packs them, always the same.

    python -m venv v && v/bin/pip install numcodecs==0.17.1 numpy==2.5.5
    v/bin/python make_vectors.py
"""

import json
import pathlib
import random

import numcodecs
import numpy as np

random.seed(20240229)
rng = np.random.default_rng(20240229)
cases = []
for _ in range(200):
    shape = [random.randint(1, 5) for _ in range(random.randint(0, 3))]
    bools = rng.random(shape) < random.random()
    encoded = numcodecs.PackBits().encode(np.array(bools))
    back = numcodecs.PackBits().decode(encoded).reshape(shape)
    assert (back == bools).all()
    items = "".join(str(int(value)) for value in np.array(bools).reshape(-1))
    cases.append({"shape": shape, "items": items, "encoded": encoded.tobytes().hex()})

lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
pathlib.Path(__file__).with_name("vectors.json").write_text("[\n" + lines + "\n]\n")
