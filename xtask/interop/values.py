"""Random shapes, elements and attributes."""

import math

import numpy as np

WORDS = ["", "a", "time", "zarr", "Grüße", "温度", "\U0001f30d", "a b", 'quote " \\ end', "x" * 40]


# The largest number of chunks of an array.
most_chunks = 1 << 30


def pick(rng: np.random.Generator, options):
    """One of the options."""
    return options[int(rng.integers(len(options)))]


def shape(rng: np.random.Generator, most: int = 4000) -> tuple[int, ...]:
    """A shape of up to four dimensions; now and then one of them is empty."""
    rank = pick(rng, [0, 1, 1, 2, 2, 2, 3, 3, 4])
    lengths = [int(rng.integers(1, 24)) for _ in range(rank)]
    while math.prod(lengths) > most:
        lengths = [max(1, length * 2 // 3) for length in lengths]
    if rank and rng.random() < 0.04:
        lengths[int(rng.integers(rank))] = 0
    return tuple(lengths)


def chunks(rng: np.random.Generator, lengths: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of chunks, at times larger than the array."""
    while True:
        shape = tuple(int(rng.integers(1, max(2, length + 3))) for length in lengths)
        if math.prod(-(-length // chunk) for length, chunk in zip(lengths, shape)) <= most_chunks:
            return shape


def inner(rng: np.random.Generator, outer: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that divides `outer`."""
    return tuple(pick(rng, [n for n in range(1, length + 1) if length % n == 0]) for length in outer)


def scalars(rng: np.random.Generator, dtype: np.dtype, count: int) -> np.ndarray:
    """Random elements, the odd ones of their type among them."""
    kind, size = dtype.kind, dtype.itemsize
    if kind == "b":
        return rng.integers(0, 2, count).astype(dtype)
    if kind in "iumM":
        wide = np.frombuffer(rng.bytes(count * size), dtype=f"i{size}")
        narrow = rng.integers(0, 100, count).astype(f"i{size}")
        mixed = np.where(rng.random(count) < 0.5, wide, narrow)
        return mixed.view(dtype.newbyteorder("=")).astype(dtype)
    if kind == "f":
        values = rng.normal(0, 100, count)
        odd = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5])
        return np.where(rng.random(count) < 0.1, odd[rng.integers(0, len(odd), count)], values).astype(dtype)
    if kind == "c":
        part = np.dtype(f"f{size // 2}")
        both = np.stack([scalars(rng, part, count), scalars(rng, part, count)], axis=-1)
        return np.ascontiguousarray(both).view(f"c{size}").reshape(count).astype(dtype)
    if kind == "S":
        # Bytes of no encoding; NULs at the end are not part of the element and come out the same.
        return np.array([rng.bytes(int(rng.integers(0, size + 1))) for _ in range(count)], dtype=dtype)
    if kind == "U":
        length = size // 4
        return np.array([pick(rng, WORDS)[:length] for _ in range(count)], dtype=dtype)
    if kind == "V":
        return np.frombuffer(rng.bytes(count * size), dtype=dtype)
    raise ValueError(f"no elements of {dtype}")


def texts(rng: np.random.Generator, count: int) -> np.ndarray:
    """Texts of any length."""
    return np.array([pick(rng, WORDS) * int(rng.integers(0, 3)) for _ in range(count)], dtype=object)


def blobs(rng: np.random.Generator, count: int) -> np.ndarray:
    """Bytes of any length."""
    array = np.empty(count, dtype=object)
    array[:] = [rng.bytes(int(rng.integers(0, 20))) for _ in range(count)]
    return array


def elements(rng: np.random.Generator, dtype, lengths: tuple[int, ...], fill=None) -> np.ndarray:
    """An array of random elements. A block of it has the fill value, so that chunks may be left out."""
    count = math.prod(lengths)
    if dtype == "string":
        array = texts(rng, count)
    elif dtype == "bytes":
        array = blobs(rng, count)
    else:
        array = scalars(rng, np.dtype(dtype), count).copy()
    array = array.reshape(lengths)
    if fill is not None and rng.random() < 0.5:
        array[tuple(slice(0, int(rng.integers(0, length + 1))) for length in lengths)] = fill
    return array


def attributes(rng: np.random.Generator) -> dict:
    """A JSON object as people attach them."""

    def value(depth: int):
        options = ["text", "integer", "float", "bool", "null"] + (["list", "object"] if depth else [])
        match pick(rng, options):
            case "text":
                return pick(rng, WORDS)
            case "integer":
                return pick(rng, [0, -1, 7, 2**53 + 1, -(2**63), 2**64 - 1])
            case "float":
                return pick(rng, [0.1, -2.5e-7, 1e300, 273.15, float(rng.normal())])
            case "bool":
                return bool(rng.integers(2))
            case "null":
                return None
            case "list":
                return [value(depth - 1) for _ in range(rng.integers(4))]
            case _:
                return {pick(rng, WORDS): value(depth - 1) for _ in range(rng.integers(3))}

    return {f"{pick(rng, WORDS)}{number}": value(2) for number in range(rng.integers(5))}


def dimension_names(rng: np.random.Generator, rank: int) -> list[str | None] | None:
    """Names of dimensions, some of them missing."""
    if rng.random() < 0.4:
        return None
    return [None if rng.random() < 0.3 else f"{pick(rng, WORDS)}{axis}" for axis in range(rank)]
