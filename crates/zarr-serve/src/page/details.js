// What a node is, as tables: facts, attributes, elements as text.

function cell(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value));

// Bytes for people.
export function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let at = 0;
  let left = Number(bytes);
  while (left >= 1024 && at < units.length - 1) {
    left /= 1024;
    at += 1;
  }
  return at ? `${left.toPrecision(3)} ${units[at]}` : `${left} B`;
}

const NAMES = {
  kind: "Kind", dialect: "Format", shape: "Shape", dimension_names: "Dimensions", data_type: "Data type", fill_value: "Fill value",
  chunk_shape: "Chunks", shard_shape: "Shards", codecs: "Codecs", error: "Cannot be read", attributes_error: "Attributes",
  chunks: "Chunks of the grid", chunks_stored: "Chunks stored", logical_bytes: "Size of the elements", stored_bytes: "Size as stored",
  ratio: "Ratio", arrays: "Arrays below", groups: "Groups below",
};
const BYTES = new Set(["logical_bytes", "stored_bytes"]);

// `more` are further names and texts.
export function facts(list, info, more = []) {
  const rows = [];
  const add = (name, text) => rows.push(cell("dt", name), cell("dd", text));
  for (const [name, label] of Object.entries(NAMES)) {
    const value = info[name];
    if (value === undefined || value === null) continue;
    if (BYTES.has(name)) add(label, `${size(value)} (${Number(value).toLocaleString("en")} bytes)`);
    else if (name === "ratio") add(label, Number(value).toPrecision(3));
    else if (Array.isArray(value)) add(label, value.map((it) => (it === null ? "-" : typeof it === "number" ? it.toLocaleString("en") : asText(it))).join(", ") || "none");
    else if (typeof value === "number") add(label, value.toLocaleString("en"));
    else add(label, asText(value));
  }
  const decoded = info.as_variable;
  if (decoded?.data_type) add("Decoded", asText(decoded.data_type));
  for (const [name, text] of more) add(name, text);
  for (const warning of info.warnings ?? []) add("Warning", warning);
  list.replaceChildren(...rows);
}

export function attributes(table, values) {
  const rows = Object.entries(values).map(([name, value]) => {
    const row = document.createElement("tr");
    const text = typeof value === "object" && value !== null ? JSON.stringify(value, null, 1) : asText(value);
    row.append(cell("th", name), cell("td", text));
    return row;
  });
  if (!rows.length) {
    const row = document.createElement("tr");
    row.append(cell("td", "no attributes"));
    rows.push(row);
  }
  table.replaceChildren(...rows);
}

// Rows of elements with the labels, or the indices, of both axes.
export function elements(table, { y, x, rows }, labels) {
  const label = (axis, known, i) => known?.[i] ?? String(axis.start + i * axis.step);
  const parts = [];
  if (x) {
    const head = document.createElement("thead");
    const row = document.createElement("tr");
    if (y) row.append(cell("th", ""));
    for (let i = 0; i < x.count; i += 1) row.append(cell("th", label(x, labels.x, i)));
    head.append(row);
    parts.push(head);
  }
  const body = document.createElement("tbody");
  rows.forEach((values, i) => {
    const row = document.createElement("tr");
    if (y) row.append(cell("th", label(y, labels.y, i)));
    row.append(...values.map((value) => cell("td", value)));
    body.append(row);
  });
  parts.push(body);
  table.replaceChildren(...parts);
}
