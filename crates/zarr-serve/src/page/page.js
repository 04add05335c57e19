// The page: the tree, and what there is to see of the chosen node.

import { counts, json, later, newest, plane as askPlane } from "./server.js";
import { Picture, histogram, mapNames, profile, setMaps, short, shortLabel } from "./picture.js";
import { Tree } from "./tree.js";
import * as details from "./details.js";
import * as images from "./image.js";
import * as layers from "./layers.js";
import { Plate } from "./plate.js";

const at = (id) => document.getElementById(id);
const picture = new Picture(at("picture"));
const plate = new Plate(at("wells"), at("plate-status"), (path) => choose(path));
const tree = new Tree(at("tree"), (path) => choose(path));

// What is shown of the chosen node.
let now = null;

function say(error) {
  at("message").textContent = error ? error.message : "";
  at("message").hidden = !error;
}

async function guard(work) {
  try {
    await work();
  } catch (error) {
    say(error);
  }
}

const axisName = ({ info, image }, axis) => image?.axes[axis].name ?? info.dimension_names?.[axis] ?? `axis ${axis}`;

// Labels of an axis, asked for once. Of an image they are positions of a level.
async function labels(state, axis, { start, step, count }, level = 0) {
  if (state.image) return images.positions(state.image, level, axis, { start, step, count });
  const name = state.info.as_variable?.coordinates?.[state.info.dimension_names?.indexOf(axisName(state, axis))];
  // Coordinates of a map follow from its transformation.
  const isOfMap = state.info.geo?.transform && state.info.geo.dimensions?.includes(axisName(state, axis));
  if (!name && !isOfMap) return null;
  const key = `${axis} ${start} ${step} ${count}`;
  if (!state.labels.has(key)) {
    const asked = json("coordinates", { path: state.path, axis, start, step, count }).catch(() => ({ labels: null, units: null }));
    state.labels.set(key, asked);
    if (state.labels.size > 500) state.labels.delete(state.labels.keys().next().value);
  }
  return state.labels.get(key);
}

// Shows a node; what was asked for others before is not waited for.
function choose(path) {
  for (const task of [open, draw, drawTable, drawProfile, profileSoon, askSizes, plate]) task.cancel();
  return guard(() => open(path));
}

const open = newest(async (signal, path) => {
  say(null);
  const info = await json("info", { path }, signal);
  const isArray = info.kind === "array";
  const image = images.imageOf(info);
  const shape = isArray ? info.shape : image?.shape ?? [];
  const rank = shape.length;
  now = {
    path, info, rank, shape, image,
    at: Array(rank).fill(0),
    y: rank > 1 ? rank - 2 : null,
    x: rank > 0 ? rank - 1 : null,
    zoom: {},
    labels: new Map(),
    plane: null,
    picked: null,
    flip: null,
  };
  history.replaceState(null, "", `${location.pathname}${location.search}#${encodeURIComponent(path)}`);
  at("node").hidden = false;
  at("readout").textContent = "\u00a0";
  at("path").textContent = path;
  const size = shape.map((n) => n.toLocaleString("en")).join(" × ") || "one element";
  const named = (type) => (typeof type === "string" ? type : type.name);
  at("brief").textContent = isArray ? `${size} · ${named(info.data_type)}`
    : image ? `${size} · ${named(image.data_type)} · image, ${image.summary}` : `${info.kind} · ${info.dialect}`;
  showFacts(info);
  details.attributes(at("attributes"), info.attributes ?? {});
  const isDecoded = info.as_variable?.is_decoded ?? false;
  const isFull = !info.error && shape.every((n) => n > 0);
  const canDraw = isFull && rank > 0 && (isArray ? info.is_numeric || isDecoded : image.is_numeric);
  const canRead = isFull && isArray;
  at("tab-picture").hidden = !canDraw;
  at("tab-table").hidden = !canRead;
  at("tab-plate").hidden = !info.grid;
  at("tab-plate").textContent = info.grid?.is_plate === false ? "Fields" : "Plate";
  at("decode").disabled = !isDecoded;
  if (canDraw) controls();
  const wanted = canDraw ? "picture" : canRead ? "table" : info.grid ? "plate" : "info";
  show(wanted);
});

function showFacts(info) {
  details.facts(at("facts"), info, [...images.facts(info), ...(info.geo?.lines ?? [])]);
  at("info-json").textContent = JSON.stringify(info, null, 2);
}

const askSizes = newest(async (signal) => {
  const state = now;
  const info = await json("info", { path: state.path, sizes: 1 }, signal);
  if (state === now) showFacts(info);
});

const TABS = ["picture", "table", "plate", "info", "attributes"];

function show(name) {
  for (const tab of TABS) {
    const chosen = tab === name;
    at(`tab-${tab}`).setAttribute("aria-selected", String(chosen));
    at(`tab-${tab}`).tabIndex = chosen ? 0 : -1;
    at(`view-${tab}`).hidden = !chosen;
  }
  if (name === "picture") guard(draw);
  if (name === "table") guard(drawTable);
  if (name === "plate") plate.show(now.path, now.info.grid);
}

function option(value, text) {
  const made = document.createElement("option");
  made.value = String(value);
  made.textContent = text;
  return made;
}

// The controls of the picture, for the axes of the array.
function controls() {
  const { rank, image } = now;
  const axes = [...Array(rank).keys()];
  for (const side of ["y", "x"]) {
    at(side).replaceChildren(...axes.map((axis) => option(axis, axisName(now, axis))));
    at(side).value = String(now[side] ?? "");
    at(side).disabled = rank < 2;
  }
  for (const control of [at("y").parentElement, at("flip").parentElement, at("zoom-in").parentElement]) control.hidden = rank < 2;
  at("profiles").classList.toggle("line", rank < 2);
  at("along").replaceChildren(...axes.map((axis) => option(axis, axisName(now, axis))));
  at("along").value = String(now.x);
  at("level").parentElement.hidden = !image;
  at("level").replaceChildren(option("", "as fits"), ...(image?.levels ?? []).map(({ path }, number) => option(number, `${number}: ${path}`)));
  layers.controls(now, () => guard(draw));
  at("scale").parentElement.hidden = !image;
  sliders();
}

function sliders() {
  const { shape, rank } = now;
  const rows = [];
  for (let axis = 0; axis < rank; axis += 1) {
    if (axis === now.y || axis === now.x || shape[axis] < 2) continue;
    rows.push(slider(axis));
  }
  at("sliders").replaceChildren(at("sliders").firstElementChild, ...rows);
  at("sliders").hidden = rows.length === 0;
}

function slider(axis) {
  const row = document.createElement("div");
  row.className = "slider";
  const name = document.createElement("span");
  name.className = "name";
  name.textContent = axisName(now, axis);
  const range = document.createElement("input");
  const number = document.createElement("input");
  const label = document.createElement("span");
  label.className = "label";
  range.type = "range";
  number.type = "number";
  for (const input of [range, number]) {
    input.min = "0";
    input.max = String(now.shape[axis] - 1);
    input.step = "1";
    input.value = String(now.at[axis]);
    input.setAttribute("aria-label", `Index along ${name.textContent}`);
    input.dataset.axis = String(axis);
    input.addEventListener("input", () => {
      const index = Math.min(now.shape[axis] - 1, Math.max(0, Math.round(Number(input.value) || 0)));
      now.at[axis] = index;
      range.value = String(index);
      if (input !== number) number.value = String(index);
      mark();
      guard(draw);
    });
  }
  const mark = async () => {
    const state = now;
    const index = state.at[axis];
    const found = await labels(state, axis, { start: index, step: 1, count: 1 });
    if (state !== now || state.at[axis] !== index) return;
    label.textContent = found?.labels ? shortLabel(found.labels[0] ?? "") : "";
  };
  mark();
  row.append(name, range, number, label);
  return row;
}

function wish(state) {
  const { y, x, zoom } = state;
  const cut = (side, axis) => (axis === null ? [0, 0] : zoom[side] ?? [0, state.shape[axis]]);
  const [y0, y1] = cut("y", y);
  const [x0, x1] = cut("x", x);
  return {
    path: state.path, y, x, y0, y1, x0, x1,
    at: state.at.join(","),
    height: y === null ? null : 512,
    width: 768,
    stored: at("decode").checked ? null : 1,
    full: at("full").checked ? 1 : null,
    level: state.image && at("level").value !== "" ? at("level").value : null,
  };
}

const draw = newest(async (signal) => {
  profileSoon.cancel();
  const state = now;
  const over = layers.wish(state);
  const { stored, ...region } = wish(state);
  const [plane, layered] = await Promise.all([
    askPlane({ ...region, stored }, signal), layers.ask(region, over, signal),
  ]);
  const { head } = plane;
  for (const side of [head.y, head.x]) if (side && state.image) side.name = axisName(state, side.axis);
  const [x, y] = await Promise.all([
    head.x && labels(state, head.x.axis, head.x, head.level),
    head.y && labels(state, head.y.axis, head.y, head.level),
  ]);
  if (state !== now) return;
  say(null);
  state.plane = plane;
  state.drawn = layered.drawn;
  state.refused = layered.refused;
  state.shown = { x: x?.labels ?? null, y: y?.labels ?? null };
  state.units = { x: x?.units, y: y?.units };
  if (state.flip === null) {
    const [first, last] = [Number(state.shown.y?.[0]), Number(state.shown.y?.[state.shown.y.length - 1])];
    // Rows of images go down, as coordinates of microscopes do.
    state.flip = !state.image && last > first;
    at("flip").checked = state.flip;
  }
  paint();
  // The values are those that are shown, but for a mark at the index that a slider changes.
  if (state.profile?.key === profileWish(state).key) await drawProfile();
  else profileSoon();
});

function limits({ statistics }) {
  const log = at("log").checked;
  let [low, high] = [statistics.min ?? 0, statistics.max ?? 1];
  const choice = at("range").value;
  if (choice === "robust" && statistics.p98 > statistics.p2) [low, high] = [statistics.p2, statistics.p98];
  if (choice === "fixed") {
    low = Number(at("low").value);
    high = Number(at("high").value);
  } else {
    at("low").value = short(low);
    at("high").value = short(high);
  }
  for (const id of ["low", "high"]) at(id).disabled = choice !== "fixed";
  if (log && !(low > 0)) low = high > 0 ? high / 1e4 : 1;
  if (log && !(high > low)) high = low * 10;
  return { low, high, log };
}

function paint() {
  if (!now?.plane) return;
  const { plane, info } = now;
  const range = limits(plane.head);
  const map = at("map").value;
  const isLine = now.rank < 2;
  at("picture").hidden = isLine;
  if (!isLine) {
    const bar = at("scale").checked ? plane.head.scale_bar : null;
    picture.show(plane, {
      range, map, flip: at("flip").checked, labels: now.shown, units: now.units, caption: plane.head.units, layers: now.drawn, bar,
    });
  }
  histogram(at("histogram"), plane.head.histogram, range, map);
  const { y, x, statistics } = plane.head;
  const sides = [y, x].filter(Boolean);
  const every = sides.map((side) => (side.step > 1 ? `every ${side.step.toLocaleString("en")}th` : "all")).join(" × ");
  const parts = [
    `${sides.map((side) => side.count.toLocaleString("en")).join(" × ")} elements (${every}) from ${plane.head.chunks.toLocaleString("en")} ${info.shard_shape ? "inner chunks" : "chunks"}`,
    statistics.min === undefined ? "none is finite" : `${short(statistics.min)} to ${short(statistics.max)}, mean ${short(statistics.mean)}`,
  ];
  if (info.geo?.crs) parts.push(info.geo.crs);
  if (statistics.missing) parts.push(`${statistics.missing.toLocaleString("en")} missing`);
  if (now.drawn?.head.channels.length > 1) parts.push("values are those of the channel of the slider");
  parts.push(...(now.drawn?.head.warnings ?? []));
  if (now.refused) parts.push(`${now.drawn ? "fewer channels are shown" : "layers are not shown"}: ${now.refused}`);
  if (plane.head.is_reduced || now.drawn?.head.is_reduced) parts.push("fewer elements than fit, to read few chunks: zoom in, or ask for more detail");
  at("status").textContent = parts.join(" · ");
}

// What is asked for a profile, and a text for all that its values depend on.
function profileWish(state) {
  const axis = Number(at("along").value);
  const { head } = state.plane;
  const index = [...(head.at ?? state.at)];
  const middle = (side) => side.start + side.step * Math.floor(side.count / 2);
  for (const name of ["y", "x"]) if (head[name]) index[head[name].axis] = state.picked?.[name] ?? middle(head[name]);
  const asked = {
    path: head.path ?? state.path, axis, at: index.join(","),
    stored: at("decode").checked ? null : 1, full: at("full").checked ? 1 : null,
  };
  const others = index.map((value, other) => (other === axis ? null : value));
  return { asked, axis, index, key: JSON.stringify({ ...asked, at: others }) };
}

const drawProfile = newest(async (signal) => {
  const state = now;
  if (!state?.plane) return;
  const { asked, axis, index, key } = profileWish(state);
  if (state.profile?.key !== key) {
    const found = await json("profile", asked, signal);
    found.along.name = axisName(state, axis);
    const named = await labels(state, axis, found.along, state.plane.head.level);
    if (state !== now) return;
    state.profile = { key, found, labels: named?.labels };
  }
  at("profiles").hidden = false;
  const others = index.flatMap((value, other) => (other === axis ? [] : [`${axisName(state, other)} ${value}`]));
  at("through").textContent = others.length ? `at ${others.join(", ")}` : "";
  state.profile.mark = index[axis];
  paintProfile();
});

// Once a slider rests.
const profileSoon = later(120, () => guard(drawProfile));

function paintProfile() {
  if (now?.profile) profile(at("profile"), now.profile.found, now.profile.labels, now.profile.mark);
}

const drawTable = newest(async (signal) => {
  const state = now;
  const { zoom, y, x } = state;
  const found = await json("table", {
    path: state.path, y, x, y0: zoom.y?.[0], x0: zoom.x?.[0], at: state.at.join(","), stored: at("decode").checked ? null : 1,
  }, signal);
  const [across, down] = await Promise.all([found.x && labels(state, x, found.x), found.y && labels(state, y, found.y)]);
  if (state !== now) return;
  details.elements(at("table"), found, { x: across?.labels, y: down?.labels });
  const cut = [found.y, found.x].filter(Boolean).some((side) => side.count < side.size);
  at("table-status").textContent = cut ? "The first 64 rows and columns of the plane that the picture shows." : "";
});

// Zooms to these elements, whole numbers within the array.
function zoomTo(side, start, stop) {
  const axis = now[side];
  if (axis === null) return;
  const size = now.shape[axis];
  const first = Math.max(0, Math.min(size - 1, Math.floor(start)));
  const last = Math.max(first + 1, Math.min(size, Math.ceil(stop)));
  now.zoom[side] = first === 0 && last === size ? undefined : [first, last];
}

function zoomBy(factor, shift = [0, 0]) {
  for (const [i, side] of ["y", "x"].entries()) {
    const axis = now[side];
    if (axis === null) continue;
    const [start, stop] = now.zoom[side] ?? [0, now.shape[axis]];
    const width = Math.max(1, (stop - start) * factor);
    let first = (start + stop) / 2 - width / 2 + shift[i] * (stop - start);
    first = Math.max(0, Math.min(now.shape[axis] - width, first));
    zoomTo(side, first, first + width);
  }
  now.picked = null;
  guard(draw);
}

function describe(place) {
  const { y, x } = now.plane.head;
  const side = (axis, known, i) => {
    const index = axis.start + i * axis.step;
    const name = axis.name ?? `axis ${axis.axis}`;
    return known?.[i] ? `${name} ${shortLabel(known[i])} (${index.toLocaleString("en")})` : `${name} ${index.toLocaleString("en")}`;
  };
  const value = now.plane.values[place.row * (x?.count ?? 1) + place.column];
  const parts = [y && side(y, now.shown.y, place.row), x && side(x, now.shown.x, place.column)].filter(Boolean);
  return `${parts.join(", ")}: ${Number.isNaN(value) ? "missing" : String(value)} ${now.plane.head.units ?? ""}`;
}

// Reads out values, picks the element of the profile with a click, zooms by a rectangle.
function pointers() {
  const canvas = at("picture");
  let begun = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (picture.at(event)) begun = event;
  });
  canvas.addEventListener("pointermove", (event) => {
    const place = now?.plane && picture.at(event);
    at("readout").textContent = place ? describe(place) : "\u00a0";
    if (begun && Math.hypot(event.clientX - begun.clientX, event.clientY - begun.clientY) > 6) picture.select(begun, event);
  });
  window.addEventListener("pointerup", (event) => {
    if (!begun || !now?.plane) return;
    const [from, to] = [picture.at(begun), picture.at(event)];
    const moved = Math.hypot(event.clientX - begun.clientX, event.clientY - begun.clientY) > 6;
    begun = null;
    const { y, x } = now.plane.head;
    if (!moved && from) {
      now.picked = { y: y && y.start + from.row * y.step, x: x && x.start + from.column * x.step };
      guard(drawProfile);
    } else if (from && to) {
      const cut = (side, a, b) => [Math.min(a, b), Math.max(a, b) + 1].map((i) => images.runStart(now.shape, side, i));
      if (y) zoomTo("y", ...cut(y, from.row, to.row));
      if (x) zoomTo("x", ...cut(x, from.column, to.column));
      now.picked = null;
      guard(draw);
    } else {
      picture.select(null, null);
    }
  });
  canvas.addEventListener("keydown", (event) => {
    const up = at("flip").checked ? 0.25 : -0.25;
    const keys = {
      "+": () => zoomBy(0.5), "=": () => zoomBy(0.5), "-": () => zoomBy(2), 0: () => zoomBy(Infinity),
      ArrowLeft: () => zoomBy(1, [0, -0.25]), ArrowRight: () => zoomBy(1, [0, 0.25]),
      ArrowUp: () => zoomBy(1, [up, 0]), ArrowDown: () => zoomBy(1, [-up, 0]),
    };
    if (!keys[event.key] || !now?.plane || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });
}

function listen() {
  for (const side of ["y", "x"]) {
    at(side).addEventListener("change", () => {
      const other = side === "y" ? "x" : "y";
      const axis = Number(at(side).value);
      if (now[other] === axis) now[other] = now[side];
      now[side] = axis;
      now.zoom = {};
      now.picked = null;
      now.flip = null;
      controls();
      guard(draw);
    });
  }
  for (const id of ["map", "range", "low", "high", "log", "scale"]) at(id).addEventListener("change", () => paint());
  at("flip").addEventListener("change", () => {
    if (now) now.flip = at("flip").checked;
    paint();
  });
  for (const id of ["decode", "full", "opacity"]) at(id).addEventListener("change", () => guard(draw));
  at("level").addEventListener("change", () => {
    now.picked = null;
    guard(draw);
  });
  at("along").addEventListener("change", () => guard(drawProfile));
  at("zoom-in").addEventListener("click", () => zoomBy(0.5));
  at("zoom-out").addEventListener("click", () => zoomBy(2));
  at("zoom-all").addEventListener("click", () => zoomBy(Infinity));
  at("controls").addEventListener("submit", (event) => event.preventDefault());
  at("filter").addEventListener("input", () => tree.setFilter(at("filter").value));
  at("reload").addEventListener("click", () => guard(start));
  at("sizes").addEventListener("click", () => guard(askSizes));
  for (const tab of TABS) at(`tab-${tab}`).addEventListener("click", () => show(tab));
  at("tabs").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const there = TABS.map((tab) => at(`tab-${tab}`)).filter((tab) => !tab.hidden);
    const next = there[(there.indexOf(document.activeElement) + step + there.length) % there.length];
    next.focus();
    next.click();
  });
  const redraw = () => {
    paint();
    paintProfile();
  };
  new ResizeObserver(redraw).observe(at("picture"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

const start = newest(async (signal) => {
  say(null);
  const [store, maps, root] = await Promise.all([
    json("store", {}, signal), json("colormaps", {}, signal), json("info", { path: "/" }, signal),
  ]);
  setMaps(maps);
  const chosen = at("map").value;
  at("map").replaceChildren(...mapNames().map((name) => option(name, name)));
  if (chosen) at("map").value = chosen;
  at("store").textContent = store.store;
  document.title = `${store.store.split("/").filter(Boolean).pop() ?? "Zarr"} - Zarr`;
  const wanted = decodeURIComponent(location.hash.slice(1)) || "/";
  tree.start(root);
  await choose(wanted);
});

listen();
pointers();
guard(start);
// For tests.
window.zarrPage = { counts, picture, state: () => now };
