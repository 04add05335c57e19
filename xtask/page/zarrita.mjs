// Reads a store that ours serves by zarrita, and compares all elements: node zarrita.mjs PACKAGES URL FILE, as xtask/interop/served.py.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [packages, url, file] = process.argv.slice(2);
const folder = `${packages}/node_modules/zarrita`;
const { exports } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
const main = (exports["."] ?? exports).import ?? exports;
const zarr = await import(pathToFileURL(`${folder}/${main}`).href);
const root = zarr.root(new zarr.FetchStore(url));
let values = 0;
const arrays = readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
for (const { path, format, elements } of arrays) {
  const open = format === 3 ? zarr.open.v3 : zarr.open.v2;
  const array = await open(root.resolve(path), { kind: "array" });
  const { data, shape } = await zarr.get(array);
  const count = shape.reduce((product, length) => product * length, 1);
  values += count;
  const bytes = data.buffer instanceof ArrayBuffer
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(Array.from(data, (value) => (value ? 1 : 0)));
  if (bytes.toString("hex") !== elements) console.log(`differs zarrita: ${path}: ${array.dtype} ${shape}`);
}
console.log(`zarrita: ${arrays.length} arrays, ${values} values`);
