// Looks at pages of the documentation site in Chromium: node site.mjs PLAYWRIGHT AXE CHROMIUM SITE FOLDER.
//
// Each page in light and dark, on the width of a desk and of a phone: it is not wider than the window, axe-core finds nothing serious in it, and it
// asks no other site for anything. Screenshots go to FOLDER. Ends with an error if something was found.

import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";
import { pathToFileURL } from "node:url";

const [packages, axes, executablePath, site, folder] = process.argv.slice(2);
const playwright = await import(pathToFileURL(createRequire(`${packages}/package.json`).resolve("playwright-core")).href);
const axe = createRequire(`${axes}/package.json`).resolve("axe-core/axe.min.js");

// One of each kind.
const PAGES = ["index", "guide/open-and-read", "verbs/convert", "api/array", "support"];
const WIDTHS = { desk: [1280, 900], phone: [390, 844] };
const TYPES = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".png": "image/png" };

setTimeout(() => {
  console.error("the site was not looked at in 300 s");
  process.exit(1);
}, 300_000).unref();

const server = createServer((request, response) => {
  const path = join(site, normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname)));
  if (!existsSync(path) || statSync(path).isDirectory()) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" });
  createReadStream(path).pipe(response);
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const origin = `http://127.0.0.1:${server.address().port}`;

const args = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const browser = await (playwright.default ?? playwright).chromium.launchPersistentContext(`${folder}/profile`, {
  executablePath, headless: true, args,
});
const page = browser.pages()[0] ?? (await browser.newPage());
const problems = [];
let at = "";
page.on("pageerror", (error) => problems.push(`${at}: error: ${error.message}`));
page.on("console", (message) => message.type() === "error" && problems.push(`${at}: console: ${message.text()}`));
page.on("request", (request) => {
  if (!request.url().startsWith(origin) && !request.url().startsWith("data:")) problems.push(`${at}: asks for ${request.url()}`);
});

let minor = 0;
for (const name of PAGES) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const [device, [width, height]] of Object.entries(WIDTHS)) {
      at = `${name}, ${colorScheme}, ${device}`;
      await page.setViewportSize({ width, height });
      await page.goto(`${origin}/${name}.html`);
      await page.screenshot({ path: `${folder}/${name.replace("/", "-")}-${colorScheme}-${device}.png` });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      if (wide > width) problems.push(`${at}: ${wide} pixels wide`);
      // The phone shows the same elements: once is enough.
      if (device === "phone" && colorScheme === "dark") continue;
      await page.addScriptTag({ path: axe });
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      for (const { id, impact, help, nodes } of violations) {
        if (impact === "serious" || impact === "critical") {
          problems.push(`${at}: ${impact}: ${id}: ${help}, ${nodes.length} times, first ${nodes[0].target}\n  ${nodes[0].failureSummary}`);
        } else minor += 1;
      }
    }
  }
}

// The search finds an option on the page of its verb.
at = "search";
await page.goto(`${origin}/search.html?q=--keep-going`);
await page.waitForSelector("#search-results li a");
const found = await page.$$eval("#search-results li a", (links) => links.map((link) => link.getAttribute("href")));
if (!found.some((link) => link.startsWith("verbs/convert.html"))) problems.push(`search: --keep-going is not found: ${found}`);

await browser.close();
server.close();
console.log(`${PAGES.length} pages of the site in light and dark, on two widths: ${problems.length} problems, ${minor} lesser remarks of axe-core`);
if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}
