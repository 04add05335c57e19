// Drawings: the picture of a plane with axes and a colour bar, histograms, profiles.

const MISSING = [128, 128, 128];
const maps = new Map();

export function setMaps(known) {
  for (const [name, { colors, is_categorical }] of Object.entries(known)) {
    const bytes = new Uint8Array(colors.length / 2);
    for (let i = 0; i < bytes.length; i += 1) bytes[i] = parseInt(colors.slice(2 * i, 2 * i + 2), 16);
    maps.set(name, { bytes, count: bytes.length / 3, isCategorical: is_categorical });
  }
}

export const mapNames = () => [...maps.keys()];

// A number in a few digits.
export function short(value) {
  if (!Number.isFinite(value)) return String(value);
  return String(Number(value.toPrecision(6)));
}

// A label of a coordinate: times without what is zero, floats in a few digits.
export function shortLabel(label) {
  if (/^-?\d+\.\d+(e[+-]?\d+)?$/i.test(label)) return short(Number(label));
  return label.replace(/\.0+$/, "").replace(/[T ]00:00:00$/, "");
}

// Where a value lies in a range: 0 to 1, or NaN.
export function place(value, range) {
  if (range.log) {
    if (!(value > 0)) return NaN;
    const low = Math.log(range.low);
    const width = Math.log(range.high) - low;
    return width > 0 ? (Math.log(value) - low) / width : 0.5;
  }
  if (Number.isNaN(value)) return NaN;
  const width = range.high / 2 - range.low / 2;
  return width > 0 ? (value / 2 - range.low / 2) / width : 0.5;
}

// The value at a place in a range.
function valueAt(at, range) {
  if (range.log) return Math.exp(Math.log(range.low) + at * (Math.log(range.high) - Math.log(range.low)));
  return range.low * (1 - at) + range.high * at;
}

// Where the colour of a value stands in a map; -1 for one that has none. Categories are whole numbers, and begin anew after the last.
function colourAt(map, value, range) {
  if (map.isCategorical) {
    if (!Number.isFinite(value)) return -1;
    const number = Math.round(value) % map.count;
    return 3 * (number < 0 ? number + map.count : number);
  }
  const at = place(value, range);
  return Number.isNaN(at) ? -1 : 3 * Math.min(map.count - 1, Math.max(0, Math.floor(at * map.count)));
}

const mapOf = (name) => maps.get(name) ?? maps.values().next().value;

// The pixels of a plane. Missing values are grey.
function pixels({ head, values }, range, map, flip) {
  const width = head.x ? head.x.count : 1;
  const height = head.y ? head.y.count : 1;
  const colours = mapOf(map);
  const image = new ImageData(Math.max(width, 1), Math.max(height, 1));
  for (let row = 0; row < height; row += 1) {
    const from = (flip ? height - 1 - row : row) * width;
    for (let column = 0; column < width; column += 1) {
      const pixel = 4 * (row * width + column);
      const step = colourAt(colours, values[from + column], range);
      image.data[pixel] = step < 0 ? MISSING[0] : colours.bytes[step];
      image.data[pixel + 1] = step < 0 ? MISSING[1] : colours.bytes[step + 1];
      image.data[pixel + 2] = step < 0 ? MISSING[2] : colours.bytes[step + 2];
      image.data[pixel + 3] = 255;
    }
  }
  return image;
}

// The colour of a value for a canvas.
function fill(map, value, range) {
  const step = Math.max(0, colourAt(map, value, range));
  return `rgb(${map.bytes[step]} ${map.bytes[step + 1]} ${map.bytes[step + 2]})`;
}

function style(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// A canvas in the size that it is shown in, cleared.
function begin(canvas) {
  const scale = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "12px system-ui, sans-serif";
  context.fillStyle = style("--text");
  context.strokeStyle = style("--faint");
  return { context, width, height };
}

function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > width) end -= 1;
  return `${text.slice(0, end)}…`;
}

// About so many round numbers between two.
function ticks(low, high, count) {
  const width = high - low;
  if (!(width > 0) || !Number.isFinite(width)) return [low];
  const rough = width / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((it) => it * power).find((it) => it >= rough) ?? power * 10;
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high && found.length < 50; i += 1) found.push(i * step);
  return found.length ? found : [low];
}

// Labels at a few of the elements of an axis.
function axisTicks(axis, labels, count) {
  const most = Math.max(1, Math.min(count, axis.count));
  const every = Math.max(1, Math.ceil(axis.count / most));
  const found = [];
  for (let i = 0; i < axis.count; i += every) {
    const label = labels?.[i] ?? String(axis.start + i * axis.step);
    found.push({ at: (i + 0.5) / axis.count, label: shortLabel(label) });
  }
  return found;
}

function title(axis, units) {
  const name = axis.name ?? `axis ${axis.axis}`;
  return units ? `${name} (${units})` : name;
}

// The picture of a plane on a canvas: it tells where in the plane a point of the canvas is.
export class Picture {
  constructor(canvas) {
    this.canvas = canvas;
    this.area = null;
    this.image = document.createElement("canvas");
  }

  // `layers` is a picture that the server made of several channels, with labels over them; without it the values of the plane are drawn.
  show(plane, { range, map, flip, labels, units, caption, layers, bar }) {
    this.plane = plane;
    this.flip = flip;
    const image = layers ? layers.pixels(layers.head.x.count, layers.head.y.count) : pixels(plane, range, map, flip);
    this.image.width = image.width;
    this.image.height = image.height;
    const context = this.image.getContext("2d");
    context.putImageData(image, 0, 0);
    if (layers && flip) {
      const copy = document.createElement("canvas");
      [copy.width, copy.height] = [image.width, image.height];
      copy.getContext("2d").drawImage(this.image, 0, 0);
      context.setTransform(1, 0, 0, -1, 0, image.height);
      context.drawImage(copy, 0, 0);
      context.resetTransform();
    }
    this.redraw = () => this.draw(range, map, labels, units, caption, layers, bar);
    this.redraw();
  }

  draw(range, map, labels, units, caption, layers, bar) {
    const { context, width, height } = begin(this.canvas);
    const { x, y } = this.plane.head;
    const room = { left: y ? 92 : 16, top: 12, right: 104, bottom: x ? 46 : 16 };
    let w = Math.max(10, width - room.left - room.right);
    let h = Math.max(10, height - room.top - room.bottom);
    const ratio = this.image.width / this.image.height;
    if (ratio >= 0.25 && ratio <= 4) {
      [w, h] = w / h > ratio ? [h * ratio, h] : [w, w / ratio];
    }
    this.area = { x: room.left, y: room.top, w, h };
    context.imageSmoothingEnabled = false;
    context.drawImage(this.image, room.left, room.top, w, h);
    context.strokeRect(room.left - 0.5, room.top - 0.5, w + 1, h + 1);
    if (x) this.drawX(context, x, labels.x, units.x);
    if (y) this.drawY(context, y, labels.y, units.y);
    if (bar) this.drawScale(context, bar);
    if (layers?.head.channels.length) this.drawChannels(context, layers.head.channels);
    else if (!layers) this.drawBar(context, range, map, caption);
    this.canvas.setAttribute("aria-label",
      `Picture of ${this.image.height} by ${this.image.width} elements, colours from ${short(range.low)} to ${short(range.high)}`);
  }

  drawX(context, axis, labels, units) {
    const { x, y, w, h } = this.area;
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const { at, label } of axisTicks(axis, labels, Math.floor(w / 90))) {
      context.fillRect(x + at * w, y + h + 1, 1, 5);
      context.fillText(fitted(context, label, 86), x + at * w, y + h + 8);
    }
    context.fillText(fitted(context, title(axis, units), w), x + w / 2, y + h + 26);
  }

  drawY(context, axis, labels, units) {
    const { x, y, w, h } = this.area;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const { at, label } of axisTicks(axis, labels, Math.floor(h / 30))) {
      const top = y + (this.flip ? 1 - at : at) * h;
      context.fillRect(x - 6, top, 5, 1);
      context.fillText(fitted(context, label, 64), x - 9, top);
    }
    context.save();
    context.translate(12, y + h / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText(fitted(context, title(axis, units), h), 0, 0);
    context.restore();
  }

  // A length in the corner of the picture.
  drawScale(context, { text, fraction }) {
    const { x, y, w, h } = this.area;
    if (w < 80 || h < 50) return;
    const length = fraction * w;
    context.save();
    const right = x + w - 10 - Math.max(0, (context.measureText(text).width - length) / 2);
    const bottom = y + h - 10;
    [context.fillStyle, context.strokeStyle, context.lineWidth] = ["#ffffff", "#181818", 3];
    context.strokeRect(right - length, bottom - 4, length, 4);
    context.fillRect(right - length, bottom - 4, length, 4);
    [context.textAlign, context.textBaseline] = ["center", "bottom"];
    context.strokeText(text, right - length / 2, bottom - 8);
    context.fillText(text, right - length / 2, bottom - 8);
    context.restore();
  }

  // Names and colours of the channels that are shown together.
  drawChannels(context, channels) {
    const { x, y, w, h } = this.area;
    [context.textAlign, context.textBaseline] = ["left", "middle"];
    const most = Math.max(1, Math.floor(h / 20));
    // The last line is for those that have no room.
    const shown = channels.length > most ? channels.slice(0, most - 1) : channels;
    if (shown.length < channels.length) {
      context.fillStyle = style("--text");
      context.fillText(fitted(context, `and ${channels.length - shown.length} more`, 86), x + w + 18, y + 20 * shown.length + 7);
    }
    shown.forEach(({ name, color }, number) => {
      const top = y + 20 * number;
      context.fillStyle = color;
      context.fillRect(x + w + 18, top, 14, 14);
      context.strokeRect(x + w + 17.5, top - 0.5, 15, 15);
      context.fillStyle = style("--text");
      context.fillText(fitted(context, name, 66), x + w + 38, top + 7);
    });
  }

  drawBar(context, range, map, caption) {
    const { x, y, w, h } = this.area;
    const left = x + w + 18;
    for (let row = 0; row < h; row += 1) {
      context.fillStyle = fill(mapOf(map), valueAt(1 - (row + 0.5) / h, range), range);
      context.fillRect(left, y + row, 14, 1.5);
    }
    context.strokeRect(left - 0.5, y - 0.5, 15, h + 1);
    context.fillStyle = style("--text");
    context.textAlign = "left";
    context.textBaseline = "middle";
    const marks = range.log ? [0, 0.25, 0.5, 0.75, 1].map((at) => valueAt(at, range)) : ticks(range.low, range.high, h / 45);
    for (const value of marks) {
      const at = place(value, range);
      if (!(at >= 0 && at <= 1)) continue;
      context.fillRect(left + 15, y + (1 - at) * h, 4, 1);
      context.fillText(fitted(context, short(value), 62), left + 22, y + (1 - at) * h);
    }
    if (caption) {
      context.textAlign = "center";
      context.textBaseline = "top";
      context.fillText(fitted(context, caption, 100), left + 18, y + h + 8);
    }
  }

  // The row and the column of the plane at a point of the canvas.
  at(event) {
    if (!this.area || !this.plane) return null;
    const box = this.canvas.getBoundingClientRect();
    const across = (event.clientX - box.left - this.area.x) / this.area.w;
    const down = (event.clientY - box.top - this.area.y) / this.area.h;
    if (!(across >= 0 && across < 1 && down >= 0 && down < 1)) return null;
    // Layers may have fewer elements than the plane.
    const [rows, columns] = [this.plane.head.y?.count ?? 1, this.plane.head.x?.count ?? 1];
    const row = Math.floor(down * rows);
    return { row: this.flip ? rows - 1 - row : row, column: Math.floor(across * columns) };
  }

  // Marks what is between two points.
  select(from, to) {
    this.redraw?.();
    if (!from || !to) return;
    const context = this.canvas.getContext("2d");
    const box = this.canvas.getBoundingClientRect();
    const [x0, x1] = [from.clientX - box.left, to.clientX - box.left];
    const [y0, y1] = [from.clientY - box.top, to.clientY - box.top];
    context.strokeStyle = style("--text");
    context.setLineDash([5, 4]);
    context.strokeRect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0));
    context.setLineDash([]);
  }
}

export function histogram(canvas, { low, high, counts }, range, map) {
  const { context, width, height } = begin(canvas);
  const [left, bottom, top] = [44, 22, 6];
  const w = width - left - 10;
  const h = height - bottom - top;
  const most = Math.max(1, ...counts);
  counts.forEach((count, i) => {
    context.fillStyle = fill(mapOf(map), low + ((i + 0.5) / counts.length) * (high - low), range);
    const bar = (count / most) * h;
    context.fillRect(left + (i / counts.length) * w, top + h - bar, w / counts.length + 0.5, bar);
    context.fillStyle = style("--faint");
    if (count) context.fillRect(left + (i / counts.length) * w, top + h - bar, w / counts.length + 0.5, 1);
  });
  context.fillStyle = style("--text");
  context.fillRect(left, top + h, w, 1);
  frame(context, { left, top, w, h, low, high, bottom: 0, most });
  canvas.setAttribute("aria-label", counts.length
    ? `Histogram of ${counts.reduce((sum, count) => sum + count, 0)} elements from ${short(low)} to ${short(high)}`
    : "Histogram: no finite elements");
}

// Numbers along the sides of a chart.
function frame(context, { left, top, w, h, low, high, bottom, most, labels }) {
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const value of ticks(bottom, most, h / 40)) {
    const at = most > bottom ? (value - bottom) / (most - bottom) : 0;
    context.fillText(fitted(context, short(value), left - 8), left - 6, top + h - at * h);
  }
  if (low === null || high === null) return;
  context.textBaseline = "top";
  context.textAlign = "center";
  if (labels) {
    for (const { at, label } of labels) context.fillText(fitted(context, label, 86), left + at * w, top + h + 6);
    return;
  }
  for (const value of ticks(low, high, w / 80)) {
    const at = high > low ? (value - low) / (high - low) : 0.5;
    context.fillText(short(value), left + at * w, top + h + 6);
  }
}

export function profile(canvas, { along, values }, labels, mark) {
  const { context, width, height } = begin(canvas);
  const numbers = values.map(Number);
  const finite = numbers.filter(Number.isFinite);
  const [left, bottom, top] = [64, 22, 8];
  const w = width - left - 14;
  const h = height - bottom - top;
  if (!finite.length) {
    context.fillText("no finite elements", left, top + h / 2);
    return;
  }
  const [low, high] = finite.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
  const x = (i) => left + ((i + 0.5) / numbers.length) * w;
  const y = (value) => top + h - (high > low ? (value - low) / (high - low) : 0.5) * h;
  context.strokeStyle = style("--line");
  context.strokeRect(left - 0.5, top - 0.5, w + 1, h + 1);
  if (mark !== undefined) {
    const at = (mark - along.start) / along.step;
    context.fillStyle = style("--faint");
    context.fillRect(x(at), top, 1, h);
  }
  context.strokeStyle = style("--plot");
  context.lineWidth = 1.5;
  context.beginPath();
  let drawing = false;
  numbers.forEach((value, i) => {
    if (!Number.isFinite(value)) {
      drawing = false;
      return;
    }
    if (drawing) context.lineTo(x(i), y(value));
    else context.moveTo(x(i), y(value));
    drawing = true;
    if (numbers.length < 100) context.rect(x(i) - 1, y(value) - 1, 2, 2);
    if (numbers.length < 100) context.moveTo(x(i), y(value));
  });
  context.stroke();
  context.fillStyle = style("--text");
  frame(context, { left, top, w, h, low: 0, high: 1, bottom: low, most: high, labels: axisTicks(along, labels, Math.floor(w / 100)) });
  canvas.setAttribute("aria-label",
    `Profile of ${numbers.length} elements along ${along.name ?? `axis ${along.axis}`}, from ${short(low)} to ${short(high)}`);
}
