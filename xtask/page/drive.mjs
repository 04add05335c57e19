// Drives the page of a served store in Chromium: node drive.mjs PACKAGES CHROMIUM URL FOLDER.
//
// The store is the one of xtask/src/served/stores.rs. A line for each check; screenshots go to FOLDER. Ends with an error at the first
// check that fails.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, executablePath, url, folder] = process.argv.slice(2);
const resolve = createRequire(`${packages}/package.json`).resolve;
const playwright = await import(pathToFileURL(resolve("playwright-core")).href);
const chromium = (playwright.default ?? playwright).chromium;

// All of it takes a few seconds.
setTimeout(() => {
  console.error("the page was not done in 120 s");
  process.exit(1);
}, 120_000).unref();
const args = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const browser = await chromium.launchPersistentContext(`${folder}/profile`, {
  executablePath, headless: true, args, viewport: { width: 1280, height: 900 },
});
const page = browser.pages()[0] ?? (await browser.newPage());
const problems = [];
const origin = new URL(url).origin;
page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
page.on("console", (message) => message.type() === "error" && problems.push(`console: ${message.text()}`));
page.on("request", (request) => {
  if (!request.url().startsWith(origin) && !request.url().startsWith("data:")) problems.push(`asked elsewhere: ${request.url()}`);
});

const asked = () => page.evaluate(() => window.zarrPage.counts.asked);

// Waits until nothing is under way, and nothing follows in the next frames.
const settled = () => page.evaluate(`(async () => {
  for (let calm = 0; calm < 5;) {
    await new Promise((done) => requestAnimationFrame(done));
    calm = document.documentElement.dataset.pending === "0" ? calm + 1 : 0;
  }
})()`);

// Does something in the page, and measures the time until all of its questions are answered and drawn.
async function timed(name, act, argument) {
  const before = await asked();
  // A text, since the page may not make functions of texts.
  const spent = await page.evaluate(`(async () => {
    const idle = () => document.documentElement.dataset.pending === "0";
    const begun = performance.now();
    ((argument) => { ${act} })(${JSON.stringify(argument)});
    await new Promise((done) => setTimeout(done, 0));
    let calm = 0;
    let end = performance.now();
    while (calm < 3) {
      if (idle()) {
        if (calm === 0) end = performance.now();
        calm += 1;
      } else calm = 0;
      await new Promise((done) => requestAnimationFrame(done));
    }
    return end - begun;
  })()`);
  await settled();
  const questions = (await asked()) - before;
  return { spent, questions };
}

// Prints the time of the quickest of a few runs, and returns how many questions one of them asked at most.
async function measured(name, act, inputs) {
  let best = Infinity;
  let questions = 0;
  for (const input of inputs) {
    const run = await timed(name, act, input);
    best = Math.min(best, run.spent);
    questions = Math.max(questions, run.questions);
  }
  console.log(`${name}: ${best.toFixed(0)} ms, ${questions} questions`);
  return questions;
}

const click = (path) => page.click(`#tree [data-path="${path}"] > .row`);
const text = (selector) => page.textContent(selector);
const shot = (name) => page.screenshot({ path: `${folder}/${name}.png`, fullPage: false });

// The colour in the middle of an element of the picture, and the element's number.
const pixel = (row, column) => page.evaluate(([row, column]) => {
  const canvas = document.getElementById("picture");
  const { picture, state } = window.zarrPage;
  const { area } = picture;
  const { x, y } = state().plane.head;
  const down = picture.flip ? y.count - 1 - row : row;
  const scale = window.devicePixelRatio;
  const [left, top] = [area.x + ((column + 0.5) / x.count) * area.w, area.y + ((down + 0.5) / y.count) * area.h];
  const data = canvas.getContext("2d").getImageData(Math.floor(left * scale), Math.floor(top * scale), 1, 1).data;
  return { colour: [...data.slice(0, 3)], left, top };
}, [row, column]);

await page.goto(url);
await page.waitForSelector("#tree [data-path='/cube']");
await settled();
console.log(`opened: ${await asked()} questions`);

// Tree.
const names = await page.$$eval("#tree > li > ul > li", (rows) => rows.map((row) => row.dataset.path));
assert.deepEqual(names, ["/cube", "/huge", "/image", "/many", "/odd", "/plate"]);
const toggle = `const item = document.querySelector('#tree [data-path="/many"]');
  if (item.getAttribute("aria-expanded") === "true") item.firstElementChild.click();
  item.firstElementChild.click();`;
await measured("open a group of 2,000 arrays", toggle, [null, null, null]);
await page.waitForSelector("#tree [data-path='/many/a0199']");
assert.equal(await page.$$eval("#tree [data-path='/many'] > ul > [role=treeitem]", (rows) => rows.length), 200);
assert.match(await text("#tree [data-path='/many'] .more"), /1,800 left/);
await measured("200 more of them", "document.querySelector('#tree [data-path=\"/many\"] .more').click()", [null, null]);
await page.waitForSelector("#tree [data-path='/many/a0399']");
await measured("open one of them", "document.querySelector(`#tree [data-path=\"/many/${argument}\"] > .row`).click()", ["a0001", "a0002", "a0003"]);
await click("/many");
await click("/cube");
await page.waitForSelector("#tree [data-path='/cube/t']");

// Picture: colours, values, coordinates.
await measured("open an array", "document.querySelector('#tree [data-path=\"/cube/t\"] > .row').click()", [null, null, null]);
const maps = await page.evaluate(async () => (await fetch("api/colormaps")).json());
const chosen = await page.$eval("#map", (select) => select.value);
const colours = (name, step) => [0, 2, 4].map((at) => parseInt(maps[name].colors.slice(6 * step + at, 6 * step + at + 2), 16));
await page.selectOption("#range", "full");
// The element at (time 0, y 0, x 0) is the smallest of the plane, that at the other end the largest; one is missing.
assert.deepEqual((await pixel(0, 0)).colour, colours(chosen, 0));
assert.deepEqual((await pixel(39, 59)).colour, colours(chosen, 255));
assert.deepEqual((await pixel(5, 7)).colour, [128, 128, 128]);
const element = await pixel(20, 30);
const box = await (await page.$("#picture")).boundingBox();
await page.mouse.move(box.x + element.left, box.y + element.top);
assert.equal((await text("#readout")).trim(), "y 25 (20), x 30 (30): 61.5 K");
await shot("picture");

// Slider: another plane, its label, the number of questions.
await page.focus("#sliders input[type=range]");
const move = "const s = document.querySelector('#sliders input[type=range]'); s.value = argument; s.dispatchEvent(new Event('input', { bubbles: true }));";
const questions = await measured("move a slider", move, [1, 2, 3, 4]);
assert.ok(questions <= 4, `${questions} questions`);
await page.mouse.move(box.x + element.left + 1, box.y + element.top);
assert.equal((await text("#readout")).trim(), "y 25 (20), x 30 (30): 461.5 K");
assert.equal(await text("#sliders .label"), "2020-01-05");
await page.keyboard.press("ArrowLeft");
await settled();
assert.equal(await page.$eval("#sliders input[type=number]", (input) => input.value), "3");

// Moves that follow each other ask for one profile, when they have ended; a profile along the slider itself only moves its mark.
const profiles = [];
page.on("request", (request) => request.url().includes("/api/profile") && profiles.push(request.url()));
await page.evaluate(`(async () => {
  for (const index of [0, 1, 2, 4, 5]) {
    const before = window.zarrPage.state().plane;
    ((argument) => { ${move} })(index);
    while (window.zarrPage.state().plane === before) await new Promise((done) => setTimeout(done, 0));
  }
})()`);
await settled();
assert.equal(profiles.length, 1);
await page.selectOption("#along", "0");
await settled();
profiles.length = 0;
await timed("move along the profile", move, 3);
assert.equal(profiles.length, 0);
await page.selectOption("#along", "2");
await settled();

// An answer that comes late does not take the place of a newer one.
await page.route("**/api/info?path=%2Fcube%2Fx", async (route) => {
  await new Promise((done) => setTimeout(done, 300));
  await route.continue().catch(() => {});
});
await click("/cube/x");
await click("/cube/y");
await page.waitForTimeout(500);
await settled();
assert.equal(await text("#path"), "/cube/y");
await page.unroute("**/api/info?path=%2Fcube%2Fx");
await click("/cube/t");
await settled();
await timed("back to the plane", move, 3);
await page.selectOption("#range", "full");

// Colour map and range.
for (const name of Object.keys(maps).filter((name) => !maps[name].is_categorical)) {
  await page.selectOption("#map", name);
  assert.deepEqual((await pixel(0, 0)).colour, colours(name, 0), name);
}
assert.ok(Object.keys(maps).length > 4);
await page.selectOption("#map", chosen);
await page.selectOption("#range", "fixed");
await page.fill("#low", "0");
await page.fill("#high", "100000");
await page.dispatchEvent("#high", "change");
assert.deepEqual((await pixel(39, 59)).colour, colours(chosen, 1));
await page.selectOption("#range", "robust");

// Histogram and profile.
assert.match(await page.getAttribute("#histogram", "aria-label"), /^Histogram of 2399 elements from 300 to 419.95$/);
await page.mouse.click(box.x + element.left, box.y + element.top);
await settled();
await page.selectOption("#along", "0");
await settled();
assert.match(await text("#through"), /at y 20, x 30/);
assert.match(await page.getAttribute("#profile", "aria-label"), /^Profile of 6 elements along time, from 61.5 to 561.5$/);
await shot("charts");

// Zoom by a rectangle, and back.
const [from, to] = [await pixel(10, 10), await pixel(19, 29)];
await page.mouse.move(box.x + from.left, box.y + from.top);
await page.mouse.down();
await page.mouse.move(box.x + to.left, box.y + to.top, { steps: 3 });
await page.mouse.up();
await settled();
assert.match(await text("#status"), /^10 × 20 elements \(all × all\)/);
await page.focus("#picture");
await page.keyboard.press("0");
await settled();
assert.match(await text("#status"), /^40 × 60 elements/);

// A trillion elements.
await measured("open an array of 2^40 elements", "document.querySelector('#tree [data-path=\"/huge\"] > .row').click()", [null, null, null]);
const found = /^(\d+) × (\d+) elements \(every [\d,]+th × every [\d,]+th\) from ([\d,]+) chunks .*fewer elements than fit/.exec(await text("#status"));
const [rows, columns, chunks] = found.slice(1).map((number) => Number(number.replaceAll(",", "")));
assert.ok(rows > 8 && columns > 8 && rows * columns === chunks && chunks <= 1024, found[0]);
await shot("huge");

await measured("zoom into it", "document.getElementById('zoom-in').click()", [1, 2, 3]);
await measured("move along it", "document.getElementById('picture').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft' }))", [1, 2, 3]);

// An image: the level that fits, its positions, another level, a finer one of a part.
await measured("open an image", "document.querySelector('#tree [data-path=\"/image\"] > .row').click()", [null]);
const level = () => page.evaluate(() => window.zarrPage.state().plane.head.level);
assert.equal(await level(), 1);
assert.match(await text("#brief"), /^2 × 1,200 × 1,600 · uint16 · image, 3 levels, 0.25 µm/);
const part = await pixel(0, 0);
const place = await (await page.$("#picture")).boundingBox();
await page.mouse.move(place.x + part.left, place.y + part.top);
assert.match(await text("#readout"), /^y [\d.]+ \([\d,]+\), x [\d.]+ \([\d,]+\): [\d.]+/);
assert.equal(await text("#sliders .label"), "DAPI");
// Its channels together, one of them, and labels over it.
const near = (found, expected) => found.every((part, at) => Math.abs(part - expected[at]) <= 2);
const colour = async (row, column) => (await pixel(row, column)).colour;
const shownLayers = () => page.evaluate(() => window.zarrPage.state().drawn?.head.channels.map(({ name }) => name));
assert.deepEqual(await shownLayers(), ["DAPI", "GFP"]);
const right = await colour(100, 390);
assert.ok(right[0] === 0 && right[1] > 200 && right[1] === right[2], `${right}`);
await page.uncheck("#channels [data-channel='0']");
await settled();
assert.ok(near(await colour(100, 390), [0, right[1], 0]));
await page.check("#layers [data-labels='left']");
await settled();
const left = await colour(100, 10);
assert.ok(near(left, [128, 3, 0]), `${left}`);
assert.ok(near(await colour(100, 390), [0, right[1], 0]));
await shot("layers");
// Choices stay when the axes are exchanged.
await page.selectOption("#y", "2");
await settled();
assert.deepEqual(await page.$$eval("#channels [data-channel]", (found) => found.map((one) => one.checked)), [false, true]);
assert.equal(await page.isChecked("#layers [data-labels='left']"), true);
await page.selectOption("#y", "1");
await settled();
await page.uncheck("#channels input");
await settled();
assert.deepEqual(await shownLayers(), ["DAPI"]);
await page.uncheck("#layers [data-labels='left']");
await settled();
assert.equal(await shownLayers(), undefined);
// Layers that are refused leave the plane, with the reason.
await page.check("#layers [data-labels='other']");
await settled();
assert.match(await text("#status"), /layers are not shown: .*found shape \[1200, 1599\]/);
assert.equal(await page.isVisible("#message"), false);
assert.ok(problems.splice(0).every((problem) => /Failed to load resource.* 400/.test(problem)));
await page.uncheck("#layers [data-labels='other']");
await settled();
await page.selectOption("#level", "2");
await settled();
assert.equal(await level(), 2);
assert.match(await text("#status"), /^300 × 400 elements \(all × all\)/);
await page.selectOption("#level", "");
await settled();
await page.click("#zoom-in");
await settled();
assert.equal(await level(), 1);
assert.match(await text("#status"), /^300 × 400 elements \(all × all\)/);
await page.click("#zoom-in");
await settled();
assert.equal(await level(), 0);
const zoomed = await page.evaluate(() => {
  const { head, values } = window.zarrPage.state().plane;
  return { start: head.x.start, first: values[0] };
});
assert.deepEqual(zoomed, { start: 600, first: 600 });
await page.click("#tab-info");
assert.match(await text("#facts"), /Axesc \(channel\), y \(space, µm\), x \(space, µm\)/);
assert.match(await text("#facts"), /1 {2}scale \(1, 0.5, 0.5\)/);
assert.match(await text("#facts"), /Shapes2 × 1,200 × 1,600, 2 × 600 × 800, 2 × 300 × 400/);
assert.match(await text("#facts"), /ChannelsDAPI, GFP/);
await shot("image");
await page.click("#tab-picture");

// A plate: its wells, and the fields of one.
await click("/plate");
await settled();
await page.waitForFunction(() => document.querySelectorAll("#wells button[data-drawn]").length === 2);
assert.deepEqual(await page.$$eval("#wells th", (found) => found.map((one) => one.textContent)), ["1", "2", "3", "A", "B"]);
assert.equal(await page.$$eval("#wells .empty", (found) => found.length), 4);
const middle = await page.$$eval("#wells canvas", (found) => found.map((canvas) => [...canvas.getContext("2d").getImageData(9, 9, 1, 1).data]));
assert.deepEqual(middle, [[255, 255, 255, 255], [128, 128, 128, 255]]);
await shot("plate");
await page.click("#wells [data-path='/plate/B/3']");
await settled();
assert.equal(await text("#tab-plate"), "Fields");
await page.click("#wells [data-path='/plate/B/3/0']");
await settled();
assert.equal(await text("#path"), "/plate/B/3/0");

// Tables, texts of the store as they are.
await click("/odd");
await page.click("#tab-attributes");
assert.equal(await page.$$eval("#attributes img, #attributes script, #attributes b", (found) => found.length), 0);
assert.match(await text("#attributes"), /<img src=x onerror=alert\(1\)><b>bold/);
await click("/cube/t");
await settled();
await page.click("#tab-table");
await settled();
assert.equal(await text("#table tbody tr:nth-child(1) td:nth-child(3)"), "0.05");
await page.click("#tab-info");
await page.click("#sizes");
await settled();
assert.match(await text("#facts"), /Chunks stored24/);
await shot("information");
await page.fill("#filter", "zzz");
assert.equal(await page.isVisible("#tree [data-path='/cube/t']"), false);
await page.fill("#filter", "");

// By keys alone.
await page.focus("#tree [tabindex='0']");
await page.keyboard.press("Home");
await page.keyboard.press("ArrowDown");
await page.keyboard.press("ArrowDown");
await page.keyboard.press("Enter");
await settled();
assert.equal(await text("#path"), "/cube/t");

// Dark, and on a narrow screen.
await page.emulateMedia({ colorScheme: "dark" });
await page.click("#tab-picture");
await settled();
await shot("dark");
await page.setViewportSize({ width: 420, height: 800 });
await page.waitForTimeout(200);
await shot("narrow");

assert.deepEqual(problems, []);
await browser.close();
