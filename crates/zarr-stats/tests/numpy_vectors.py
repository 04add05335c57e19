"""Writes the statistics that numpy has of data that the tests make as well: python numpy_vectors.py > all/numpy_vectors.rs"""

import numpy as np

N = 20_000


def state(n):
    # Knuth's generator with 64 bits, as the tests have it.
    values, x = [], 42
    for _ in range(n):
        x = (x * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append(x >> 33)
    return np.array(values, dtype=np.uint64)


RAW = state(N)


def floats(dtype):
    values = 250 + (RAW % np.uint64(10_007)).astype(np.float64) / 64
    values[::97] = np.nan
    return values.astype(dtype)


DATA = {
    "int8": (RAW % np.uint64(201)).astype(np.int64).__sub__(100).astype(np.int8),
    "uint16": (RAW % np.uint64(65_521)).astype(np.uint16),
    "int32": (RAW.astype(np.int64) - 2**30).astype(np.int32),
    "int64": (RAW.astype(np.int64) * 1_000_003 - 2**50).astype(np.int64),
    "float16": floats(np.float16),
    "float32": floats(np.float32),
    "float64": floats(np.float64),
}

SHARES = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99]


def rust(value):
    return repr(float(value))


print("//! Made by `numpy_vectors.py` with numpy " + np.__version__ + ": data type, NaN, first index of the least and of the greatest value,")
print("//! mean, standard deviation, quantiles, counts of a histogram of 8 bins.\n")
print("/// What numpy has of an array.")
print("pub(crate) struct Vector {")
for field, kind in [("data_type", "&'static str"), ("nan", "u128"), ("min_at", "u64"), ("max_at", "u64"), ("mean", "f64"),
                    ("std", "f64"), ("quantiles", "[f64; 7]"), ("histogram", "[u128; 8]")]:
    print(f"    pub(crate) {field}: {kind},")
print("}\n")
print(f"pub(crate) const VECTORS: [Vector; {len(DATA)}] = [")
for name, data in DATA.items():
    wide = data.astype(np.float64)
    finite = wide[~np.isnan(wide)]
    print("    Vector {")
    print(f'        data_type: "{name}",')
    print(f"        nan: {int(np.isnan(wide).sum())},")
    print(f"        min_at: {int(np.nanargmin(wide))},")
    print(f"        max_at: {int(np.nanargmax(wide))},")
    print(f"        mean: {rust(np.mean(finite))},")
    print(f"        std: {rust(np.std(finite))},")
    print(f"        quantiles: [{', '.join(rust(q) for q in np.quantile(finite, SHARES))}],")
    print(f"        histogram: [{', '.join(str(c) for c in np.histogram(finite, 8)[0])}],")
    print("    },")
print("];")
