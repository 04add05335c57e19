// Opens images of OME-Zarr that ours serves by the loader of Viv, and compares a plane of each level: node viv.mjs PACKAGES URL FILE, where
// FILE has a line for each level: its image, its path and the elements of channel 1 at z = 2.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [packages, url, file] = process.argv.slice(2);
const folder = `${packages}/node_modules/@vivjs/loaders`;
const { module, main } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
const { loadOmeZarr } = await import(pathToFileURL(`${folder}/${module ?? main}`).href);
const levels = readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
let values = 0;
for (const image of new Set(levels.map((level) => level.image))) {
  const { data, metadata } = await loadOmeZarr(`${url}${image}`, { type: "multiscales" });
  const expected = levels.filter((level) => level.image === image);
  const channels = metadata.omero.channels.map((channel) => channel.label).join();
  if (data.length !== expected.length || channels !== "DAPI,GFP") {
    console.log(`differs Viv: ${image}: ${data.length} levels, channels ${channels}`);
  }
  for (const [number, source] of data.entries()) {
    const raster = (await source.getRaster({ selection: { c: 1, z: 2 } })).data;
    values += raster.length;
    const bytes = Buffer.from(raster.buffer, raster.byteOffset, raster.byteLength);
    if (bytes.toString("hex") !== expected[number]?.elements) {
      console.log(`differs Viv: ${image}/${number}: ${source.dtype} ${source.shape}`);
    }
  }
}
console.log(`Viv: ${levels.length} levels, ${values} values`);
