// Images in several resolutions (OME-Zarr): the positions of elements, and indices of a level in those of the finest one.

// The image that a group is, if it can be shown.
export function imageOf({ ome, image }) {
  if (!image?.shapes[0]) return null;
  const { axes, levels } = ome.images[0];
  return { ...image, axes, levels, looks: image.channels, channels: ome.channels, shape: image.shapes[0] };
}

// The positions of elements along an axis of a level, or the names of channels; null if these are indices.
export function positions({ axes, units, levels, channels }, level, axis, { start, step, count }) {
  const { scale, translation } = levels[level];
  const indices = Array.from({ length: count }, (_, i) => start + i * step);
  if (axes[axis].type === "channel") {
    return channels.length ? { labels: indices.map((i) => channels[i] ?? String(i)), units: null } : null;
  }
  if (!units[axis] && level === 0) return null;
  const at = (i) => (scale[axis] ?? 1) * i + (translation[axis] ?? 0);
  return { labels: indices.map((i) => String(Number(at(i).toPrecision(12)))), units: units[axis] };
}

// Where the run of elements of the finest level begins that the i-th element of a side of a picture stands for.
export function runStart(shape, side, i) {
  const first = side.start - Math.floor((side.step - 1) / 2) + i * side.step;
  return (first / side.size) * shape[side.axis];
}

// Facts about an image: names and texts.
export function facts({ ome, image }) {
  if (!image) return [];
  const times = (shape) => (shape ? shape.map((n) => n.toLocaleString("en")).join(" × ") : "cannot be read");
  const warnings = ome.deviations.map((text) => ["Warning", text]);
  const problem = image.error ? [["Cannot be read", image.error]] : [];
  const labels = image.labels_error ? [["Labels cannot be read", image.labels_error]] : [];
  return [...image.lines, ["Shapes", image.shapes.map(times).join(", ")], ...problem, ...labels, ...warnings];
}
