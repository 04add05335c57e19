"""Four processes write blocks that share shards: how many elements are lost, by zarr-python alone and by this package.

zarr-python reads a shard, changes its part and stores it, and so may undo the write of another process. This package stores it on the
condition that nobody changed it meanwhile, else it begins again.

    python shared_shards.py        # needs zarr besides
"""

import multiprocessing
import tempfile

import numpy as np

SHAPE, CHUNKS, SHARDS, BLOCK = (512, 256), (16, 16), (128, 128), (30, 50)


def blocks() -> list[tuple[slice, slice]]:
    return [
        (slice(row, min(row + BLOCK[0], SHAPE[0])), slice(column, min(column + BLOCK[1], SHAPE[1])))
        for row in range(0, SHAPE[0], BLOCK[0])
        for column in range(0, SHAPE[1], BLOCK[1])
    ]


def by_zarr_python(path: str, number: int) -> None:
    import zarr

    array = zarr.open_array(path, mode="r+")
    for block in blocks()[number::4]:
        array[block] = 1


def by_zarr_rust(path: str, number: int) -> None:
    import zarr_rust

    array = zarr_rust.open_array(path, path="/", mode="r+")
    for block in blocks()[number::4]:
        array[block] = 1


def main() -> None:
    import zarr

    for name, work in (("zarr-python", by_zarr_python), ("zarr-rust", by_zarr_rust)):
        with tempfile.TemporaryDirectory() as folder:
            array = zarr.create_array(f"{folder}/x", shape=SHAPE, dtype="i4", chunks=CHUNKS, shards=SHARDS)
            with multiprocessing.get_context("spawn").Pool(4) as pool:
                pool.starmap(work, [(f"{folder}/x", number) for number in range(4)])
            lost = int((array[...] == 0).sum())
            print(f"{name}: {lost} of {np.prod(SHAPE)} elements lost")


if __name__ == "__main__":
    main()
