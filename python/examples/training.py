"""Trains a small network of torch to fill gaps in maps of sea surface temperature: training.py [climate.zarr]."""

import sys
from pathlib import Path

import numpy as np
import torch
import zarr_rust
from zarr_rust.loader import Boxes

BOX = (1, 8, 16)
EPOCHS = 6

store = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2] / "examples" / "data" / "climate.zarr"
sst = zarr_rust.open_array(store, "sst", cache="64MiB")
# Boxes of the first nine months to train with, those of the last three to test.
months = {"train": slice(0, 9), "test": slice(9, 12)}
loaders = {
    name: Boxes(sst, BOX, batch=16, where=[(part, slice(None), slice(None))], stride=(1, 2, 8), seed=1, to="torch", drop_last=True)
    for name, part in months.items()
}

torch.manual_seed(0)
network = torch.nn.Sequential(
    torch.nn.Conv2d(2, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(16, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(16, 1, 1)
)
optimizer = torch.optim.Adam(network.parameters(), 2e-3)
whole = sst[...]
mean, scale = float(np.nanmean(whole)), float(np.nanstd(whole))


def loss_of(batch: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """The error at elements that the network does not see."""
    values = (batch - mean) / scale
    is_known = torch.isfinite(values)
    values = torch.where(is_known, values, 0.0)
    is_seen = is_known & (torch.rand(values.shape, generator=generator) > 0.3)
    guess = network(torch.cat([values * is_seen, is_seen.float()], 1))
    hidden = is_known & ~is_seen
    return ((guess - values)[hidden] ** 2).mean() if hidden.any() else guess.sum() * 0


losses = []
for epoch in range(EPOCHS):
    generator = torch.Generator().manual_seed(epoch)
    for batch in loaders["train"]:
        optimizer.zero_grad()
        loss = loss_of(batch, generator)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        generator = torch.Generator().manual_seed(0)
        losses.append(float(np.mean([loss_of(batch, generator).item() for batch in loaders["test"]])))
    print(f"epoch {epoch}: error of hidden elements {losses[-1]:.4f}")
assert losses[-1] < losses[0], "the network has learned"
