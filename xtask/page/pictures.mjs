// Draws the pictures of README.md in Chromium: node pictures.mjs PACKAGES CHROMIUM PROGRAM URL SCRATCH FOLDER.
//
// terminal.png: what the command prints on a terminal, which `script` of util-linux stands in for. page.png: the page of a served store, with
// a plane drawn. The data are those of examples/data; the current folder is the root of the repository.

import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, executablePath, program, url, scratch, folder] = process.argv.slice(2);
const resolve = createRequire(`${packages}/package.json`).resolve;
const playwright = await import(pathToFileURL(resolve("playwright-core")).href);
const chromium = (playwright.default ?? playwright).chromium;

const LARGEST = 150 * 1024;
const [COLUMNS, ROWS] = [98, 30];
const COMMANDS = [
  "tree examples/data/climate.zarr",
  "view examples/data/climate.zarr sst --select time=0",
  "stats examples/data/climate.zarr sst --bins 8",
];

// The terminal.
// Whole pixels, also for halves of cells.
const [WIDTH, HEIGHT, MARGIN, SCALE] = [8, 16, 12, 1];
const [INK, PAPER] = ["#d4d4d4", "#1e1e1e"];
const NAMED = [
  "#3b3b3b", "#f14c4c", "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#e5e5e5",
  "#808080", "#ff6b6b", "#4be0a5", "#ffff7a", "#6aabf2", "#e599e5", "#5fd0e8", "#ffffff",
];

function printed(command) {
  const quoted = `'${program.replaceAll("'", "'\\''")}'`;
  const env = { ...process.env, TERM: "xterm-256color", COLORTERM: "truecolor", LC_ALL: "C.UTF-8", ZARR_PAGER: "cat" };
  for (const name of ["NO_COLOR", "TMUX", "TERM_PROGRAM", "KITTY_WINDOW_ID", "COLUMNS", "LINES"]) delete env[name];
  // Progress goes to the standard error.
  const shell = `stty cols ${COLUMNS} rows ${ROWS}; exec ${quoted} ${command} 2> /dev/null`;
  return execFileSync("script", ["--quiet", "--return", "--command", shell, "/dev/null"], { env, stdio: ["ignore", "pipe", "inherit"] }).toString();
}

// The colour that numbers of a sequence name, from the one at `at`, and how many numbers that takes.
function colour(numbers, at) {
  if (numbers[at + 1] === 2) return [`rgb(${numbers.slice(at + 2, at + 5).join(",")})`, 5];
  const index = numbers[at + 2];
  if (index < 16) return [NAMED[index], 3];
  if (index >= 232) return [`rgb(${[8, 8, 8].map((least) => least + 10 * (index - 232)).join(",")})`, 3];
  const level = (digit) => (digit === 0 ? 0 : 55 + 40 * digit);
  return [`rgb(${[36, 6, 1].map((unit) => level(Math.floor((index - 16) / unit) % 6)).join(",")})`, 3];
}

// Lines of cells with their styles.
function cells(text) {
  const lines = [[]];
  let style = {};
  for (const [token, numbers] of text.replaceAll("\r", "").matchAll(/\u001b\[([\d;]*)m|\u001b\[[^@-~]*[@-~]|[^]/gu)) {
    if (numbers !== undefined) {
      const all = (numbers || "0").split(";").map(Number);
      for (let at = 0; at < all.length; ) {
        const number = all[at];
        let taken = 1;
        if (number === 0) style = {};
        else if (number === 1) style = { ...style, bold: true };
        else if (number === 2) style = { ...style, faint: true };
        else if (number === 22) style = { ...style, bold: false, faint: false };
        else if (number === 38 || number === 48) {
          const [value, length] = colour(all, at);
          style = { ...style, [number === 38 ? "ink" : "paper"]: value };
          taken = length;
        } else if (number === 39) style = { ...style, ink: undefined };
        else if (number === 49) style = { ...style, paper: undefined };
        else if (number >= 30 && number < 38) style = { ...style, ink: NAMED[number - 30] };
        else if (number >= 40 && number < 48) style = { ...style, paper: NAMED[number - 40] };
        else if (number >= 90 && number < 98) style = { ...style, ink: NAMED[number - 82] };
        else throw new Error(`a sequence that is not drawn: ${numbers}`);
        at += taken;
      }
    } else if (token === "\n") lines.push([]);
    else if (token.startsWith("\u001b")) throw new Error(`a sequence that is not drawn: ${JSON.stringify(token)}`);
    else lines.at(-1).push({ token, style });
  }
  if (lines.at(-1).length === 0) lines.pop();
  return lines;
}

// The part of a cell that a block fills: left, top, width, height.
function block(token) {
  const code = token.codePointAt(0);
  if (code === 0x2580) return [0, 0, 1, 0.5];
  if (code > 0x2580 && code <= 0x2588) return [0, 1 - (code - 0x2580) / 8, 1, (code - 0x2580) / 8];
  if (code > 0x2588 && code <= 0x258f) return [0, 0, (0x2590 - code) / 8, 1];
  return undefined;
}

function drawing(lines) {
  const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  // Letters may reach beyond their cells.
  const [drawn, letters] = [[], []];
  const rectangle = (x, y, w, h, fill) => drawn.push(`<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${fill}"/>`);
  lines.forEach((line, row) => line.forEach(({ token, style }, column) => {
    const [x, y, ink] = [MARGIN + column * WIDTH, MARGIN + row * HEIGHT, style.ink ?? INK];
    if (style.paper) rectangle(x, y, WIDTH, HEIGHT, style.paper);
    const filled = block(token);
    if (filled) {
      rectangle(x + filled[0] * WIDTH, y + filled[1] * HEIGHT, filled[2] * WIDTH, filled[3] * HEIGHT, ink);
    } else if (token !== " ") {
      const weight = style.bold ? ` font-weight="bold"` : "";
      letters.push(`<text x="${x}" y="${y + 12.5}" fill="${ink}"${weight}${style.faint ? ` opacity="0.65"` : ""}>${escaped(token)}</text>`);
    }
  }));
  const [width, height] = [COLUMNS * WIDTH + 2 * MARGIN, lines.length * HEIGHT + 2 * MARGIN];
  return `<!doctype html><body style="margin:0"><svg width="${width}" height="${height}" style="display:block" shape-rendering="crispEdges"
    font-family="'DejaVu Sans Mono', monospace" font-size="13"><rect width="100%" height="100%" fill="${PAPER}"/>${drawn.join("")}${letters.join("")}</svg>`;
}

const prompted = COMMANDS.flatMap((command, number) => [
  ...(number === 0 ? [] : [[]]),
  ...cells(`\u001b[92m$\u001b[0m zarr ${command}\n`),
  ...cells(printed(command)),
]);

const args = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
async function opened(name, deviceScaleFactor) {
  const viewport = { width: 1280, height: 900 };
  const options = { executablePath, headless: true, args, viewport, deviceScaleFactor, colorScheme: "light" };
  const browser = await chromium.launchPersistentContext(`${scratch}/${name}`, options);
  return [browser, browser.pages()[0] ?? (await browser.newPage())];
}

const [terminal, drawn] = await opened("terminal", SCALE);
await drawn.setContent(drawing(prompted));
await (await drawn.$("svg")).screenshot({ path: `${folder}/terminal.png` });
await terminal.close();

const [browser, page] = await opened("page", 1);
await page.goto(`${url}#${encodeURIComponent("/sst")}`);
await page.reload();
await page.waitForFunction(() => document.documentElement.dataset.pending === "0" && window.zarrPage.state()?.plane);
const canvas = await (await page.$("#picture")).boundingBox();
const { area } = await page.evaluate(() => ({ area: { ...window.zarrPage.picture.area } }));
await page.mouse.click(canvas.x + area.x + area.w * 0.55, canvas.y + area.y + area.h * 0.5);
await page.evaluate(`(async () => {
  for (let calm = 0; calm < 5;) {
    await new Promise((done) => requestAnimationFrame(done));
    calm = document.documentElement.dataset.pending === "0" ? calm + 1 : 0;
  }
})()`);
await page.screenshot({ path: `${folder}/page.png` });
await browser.close();

for (const name of ["terminal.png", "page.png"]) {
  const { size } = statSync(`${folder}/${name}`);
  console.log(`${name}: ${Math.ceil(size / 1024)} KiB`);
  if (size > LARGEST) throw new Error(`${name} is larger than ${LARGEST / 1024} KiB`);
}
