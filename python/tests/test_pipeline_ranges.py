"""Stores of zarr-python that take no ranges of bytes."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rust
from zarr.abc.store import ByteRequest, SuffixByteRequest
from zarr.codecs import BytesCodec, ShardingCodec
from zarr.storage import MemoryStore

DATA = np.arange(256 * 256, dtype="u2").reshape(256, 256)


class NoRanges(MemoryStore):
    """As the store of tifffile, which makes chunks from the tiles of a file: there are whole ones only."""

    refusal: type[Exception] = NotImplementedError
    #: What it refuses.
    kinds: Any = object

    def __init__(self, store_dict: Any = None, *, read_only: bool = False) -> None:
        super().__init__(store_dict, read_only=read_only)
        self.asked: Counter[str] = Counter()

    async def get(self, key: str, prototype: Any = None, byte_range: ByteRequest | None = None) -> Any:
        await asyncio.sleep(0)
        if byte_range is not None:
            self.asked["range"] += 1
            if isinstance(byte_range, self.kinds):
                raise self.refusal(f"{byte_range=} not supported")
        elif "c/" in key:
            self.asked["whole"] += 1
        return await super().get(key, prototype, byte_range)


def stored(store: Any, **settings: Any) -> Any:
    array = zarr.create_array(store, shape=DATA.shape, dtype=DATA.dtype, **settings)
    array[:] = DATA
    return array


@pytest.mark.parametrize("refusal", [NotImplementedError, TypeError, ValueError])
def test_stores_without_ranges_give_whole_chunks(refusal: type[Exception]) -> None:
    store = NoRanges()
    store.refusal = refusal
    stored(store, chunks=(64, 64), compressors=None)
    store.asked.clear()
    with zarr_rust.enable():
        array = zarr.open_array(store, mode="r+")
        assert (array[10:20] == DATA[10:20]).all()
        # Each of the four chunks is asked for all of it, and before that for a range once, unless another one was refused by then.
        ranges = store.asked["range"]
        assert store.asked["whole"] == 4
        assert ranges == 4 if refusal is ValueError else 1 <= ranges <= 4
        assert array[3, 200] == DATA[3, 200]
        assert (array[:] == DATA).all()
        assert (array.oindex[[1, 100], 5:70] == DATA[[1, 100], 5:70]).all()
        assert (zarr.open_array(store, mode="r+")[10:20] == DATA[10:20]).all()
        # It is known by now, if this is not about one range.
        assert (store.asked["range"] == ranges) == (refusal is not ValueError)
        array[10:20, 3] = 7
        assert (array[:, 3] == np.where((np.arange(256) >= 10) & (np.arange(256) < 20), 7, DATA[:, 3])).all()
        assert (store.asked["range"] == ranges) == (refusal is not ValueError)
    other = NoRanges()
    with zarr_rust.enable():
        assert (stored(other, chunks=(64, 64), compressors=None)[1] == DATA[1]).all()
    # What is known is of the one store.
    assert other.asked["range"] > 0


def test_shards_of_stores_without_ranges_of_a_kind() -> None:
    store = NoRanges()
    store.kinds = SuffixByteRequest
    stored(store, shards=(128, 128), chunks=(32, 32))
    store.asked.clear()
    with zarr_rust.enable():
        array = zarr.open_array(store, mode="r")
        assert (array[10:20, 100:140] == DATA[10:20, 100:140]).all()
        assert (array[:] == DATA).all()


def test_a_shard_is_asked_for_once() -> None:
    store = NoRanges()
    with zarr_rust.enable():
        array = stored(store, shards=(128, 128), chunks=(32, 32))
        # By now it is known to take no ranges.
        assert (array[10:20, 100:140] == DATA[10:20, 100:140]).all()
        store.asked.clear()
        assert (array[10:20, 100:140] == DATA[10:20, 100:140]).all()
        assert store.asked == {"whole": 2}
        assert array[200, 200] == DATA[200, 200]
        assert store.asked == {"whole": 3}


def test_what_a_store_raises_for_whole_values_is_raised() -> None:
    class Broken(NoRanges):
        async def get(self, key: str, prototype: Any = None, byte_range: ByteRequest | None = None) -> Any:
            if "c/" in key and byte_range is None:
                raise RuntimeError(f"{key}: broken")
            return await super().get(key, prototype, byte_range)

    store = Broken()
    with zarr_rust.enable():
        array = stored(store, chunks=(64, 64), compressors=None)
        with pytest.raises(RuntimeError, match="c/0/0: broken"):
            array[3:5, 3]


def test_errors_of_whole_values_are_no_refusals() -> None:
    class Broken(NoRanges):
        async def get(self, key: str, prototype: Any = None, byte_range: ByteRequest | None = None) -> Any:
            if "c/" in key:
                self.asked["whole"] += 1
                raise ValueError(f"{key}: broken")
            return await super().get(key, prototype, byte_range)

    store = Broken()
    with zarr_rust.enable():
        array = stored(store, chunks=(256, 256))
        store.asked.clear()
        with pytest.raises(ValueError, match="c/0/0: broken"):
            array[:]
    assert store.asked["whole"] == 1


def test_ranges_beyond_a_value_are_errors() -> None:
    class Short(NoRanges):
        async def get(self, key: str, prototype: Any = None, byte_range: ByteRequest | None = None) -> Any:
            value = await super().get(key, prototype, byte_range)
            return value if value is None or "c/" not in key else prototype.buffer.from_bytes(value.to_bytes()[:100])

    store = Short()
    with zarr_rust.enable():
        array = stored(store, chunks=(64, 64), compressors=None)
        with pytest.raises(zarr_rust.errors.ZarrError, match="c/0/0"):
            array[3:5, 3]


def test_tiles_of_tifffile(tmp_path: Path) -> None:
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite(tmp_path / "x.tif", DATA, tile=(64, 64))
    try:
        store = tifffile.imread(tmp_path / "x.tif", aszarr=True)
    except ValueError as error:
        pytest.skip(f"tifffile makes no store for this zarr-python: {error}")
    with zarr_rust.enable():
        array = zarr.open_array(store, mode="r")
        assert (array[10:20] == DATA[10:20]).all()
        assert (array[:] == DATA).all()
