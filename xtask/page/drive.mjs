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

// How long an action may take until its result is drawn, in milliseconds; the quickest of a few counts.
const QUICK = 200;
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

const times = [];
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
  times.push({ name, spent, questions });
  return { spent, questions };
}

// The quickest of a few runs has to be quick.
async function quick(name, act, inputs) {
  let best = Infinity;
  let questions = 0;
  for (const input of inputs) {
    const run = await timed(name, act, input);
    best = Math.min(best, run.spent);
    questions = Math.max(questions, run.questions);
  }
  assert.ok(best < QUICK, `${name}: ${best.toFixed(0)} ms`);
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
assert.deepEqual(names, ["/cube", "/huge", "/many", "/odd"]);
const toggle = `const item = document.querySelector('#tree [data-path="/many"]');
  if (item.getAttribute("aria-expanded") === "true") item.firstElementChild.click();
  item.firstElementChild.click();`;
await quick("open a group of 2,000 arrays", toggle, [null, null, null]);
await page.waitForSelector("#tree [data-path='/many/a0199']");
assert.equal(await page.$$eval("#tree [data-path='/many'] > ul > [role=treeitem]", (rows) => rows.length), 200);
assert.match(await text("#tree [data-path='/many'] .more"), /1,800 left/);
await quick("200 more of them", "document.querySelector('#tree [data-path=\"/many\"] .more').click()", [null, null]);
await page.waitForSelector("#tree [data-path='/many/a0399']");
await quick("open one of them", "document.querySelector(`#tree [data-path=\"/many/${argument}\"] > .row`).click()", ["a0001", "a0002", "a0003"]);
await click("/many");
await click("/cube");
await page.waitForSelector("#tree [data-path='/cube/t']");

// Picture: colours, values, coordinates.
await quick("open an array", "document.querySelector('#tree [data-path=\"/cube/t\"] > .row').click()", [null, null, null]);
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
const questions = await quick("move a slider", move, [1, 2, 3, 4]);
assert.ok(questions <= 4, `${questions} questions`);
await page.mouse.move(box.x + element.left + 1, box.y + element.top);
assert.equal((await text("#readout")).trim(), "y 25 (20), x 30 (30): 461.5 K");
assert.equal(await text("#sliders .label"), "2020-01-05");
await page.keyboard.press("ArrowLeft");
await settled();
assert.equal(await page.$eval("#sliders input[type=number]", (input) => input.value), "3");

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
await quick("open an array of 2^40 elements", "document.querySelector('#tree [data-path=\"/huge\"] > .row').click()", [null, null, null]);
assert.match(await text("#status"), /^16 × 24 elements \(every 65,536th × every 43,691th\) from 384 chunks/);
await shot("huge");
await quick("zoom into it", "document.getElementById('zoom-in').click()", [1, 2, 3]);
await quick("move along it", "document.getElementById('picture').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft' }))", [1, 2, 3]);

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
