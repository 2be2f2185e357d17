/* node site.js BROWSER FOLDER [PICTURES]: serves the site in the folder and reads it as a reader does. */
"use strict";
const { chromium } = require("playwright-core");
const fs = require("fs"), http = require("http"), path = require("path");
const [browserPath, folder, pictures] = process.argv.slice(2);
const axe = require.resolve("axe-core/axe.min.js");
const types = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png" };
let failures = 0;

function check(holds, what) {
  if (holds) return;
  console.error("FAILED: " + what);
  failures++;
}

function pagesBelow(where) {
  return fs.readdirSync(where, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(where, entry.name);
    if (entry.isDirectory()) return entry.name === "c" ? [] : pagesBelow(full);
    return entry.name.endsWith(".html") && entry.name !== "404.html" ? [path.relative(folder, full)] : [];
  });
}

const serve = () => new Promise((done) => {
  const server = http.createServer((request, response) => {
    const file = path.join(folder, decodeURIComponent(request.url.split(/[?#]/)[0]));
    const found = fs.existsSync(file) && fs.statSync(file).isFile();
    response.writeHead(found ? 200 : 404, { "Content-Type": types[path.extname(file)] || "application/octet-stream" });
    response.end(found ? fs.readFileSync(file) : "");
  }).listen(0, "127.0.0.1", () => done(server));
});

const anchors = new Map();
function hasAnchor(file, anchor) {
  if (!anchors.has(file)) anchors.set(file, new Set([...fs.readFileSync(file, "utf8").matchAll(/(?:id|name)="([^"]+)"/g)].map((m) => m[1])));
  return anchors.get(file).has(anchor);
}

/* Every link of a page leads to a file of the site, and to a place in it. */
async function links(page, name, origin) {
  const found = await page.evaluate(() => [...document.querySelectorAll("a[href], img[src]")].map((e) => e.href || e.src));
  for (const link of found.filter((l) => l.startsWith(origin))) {
    const [where, anchor] = link.slice(origin.length).split("#"), file = path.join(folder, decodeURIComponent(where || name));
    if (where.endsWith("/") || where === "") continue;
    const exists = fs.existsSync(file);
    check(exists, `${name}: the link ${link} leads nowhere`);
    if (exists && anchor && file.endsWith(".html") && !where.startsWith("/c/"))
      check(hasAnchor(file, decodeURIComponent(anchor)), `${name}: no place ${anchor} in ${where}`);
  }
  return found.filter((l) => l.startsWith(origin)).map((l) => l.slice(origin.length + 1).split("#")[0]);
}

/* On a phone a page is not wider than the screen: tables and code scroll by themselves. */
async function narrow(page, name) {
  const wide = await page.evaluate(() => document.scrollingElement.scrollWidth - window.innerWidth);
  check(wide <= 0, `${name}: ${wide} pixels wider than a phone`);
}

async function contrast(page, name) {
  await page.addScriptTag({ path: axe });
  const { violations, passes } = await page.evaluate(() => axe.run({ runOnly: ["color-contrast"] }));
  check(passes.length > 0, `${name}: axe-core looked at nothing`);
  for (const v of violations) check(false, `${name}: ${v.help}: ${v.nodes.length}, ${v.nodes[0].html.slice(0, 200)}`);
}

async function search(page, origin) {
  await page.goto(origin + "/index.html");
  const input = page.locator(".md-search__input").first(), found = page.locator(".md-search-result__link");
  for (let i = 1; i < 13 && await found.count() === 0; i++) { // what is typed before the index is there is lost
    await input.fill("");
    await input.fill("permutations");
    await found.first().waitFor({ timeout: 2000 * i }).catch(() => {});
  }
  check(await found.count() > 0, "search finds nothing of permutations");
}

(async () => {
  const server = await serve(), origin = `http://127.0.0.1:${server.address().port}`;
  const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
  const page = await browser.newPage({ viewport: { width: 375, height: 800 } });
  page.on("request", (r) => check(r.url().startsWith(origin) || r.url().startsWith("data:"), `asks for ${r.url()}`));
  page.on("pageerror", (e) => check(false, e.message));
  const pages = pagesBelow(folder), reached = new Set(["index.html"]);
  for (const name of pages) {
    await page.goto(`${origin}/${name}`, { waitUntil: "domcontentloaded" });
    for (const link of await links(page, name, origin)) reached.add(link);
    await narrow(page, name);
  }
  for (const name of pages) check(reached.has(name) || name.startsWith("docs/pictures"), `no page leads to ${name}`);
  for (const name of ["index.html", "docs/howto/modules.html", "docs/reference/commands/rarebit-check.html"]) {
    await page.goto(`${origin}/${name}`);
    await contrast(page, name);
  }
  await search(page, origin);
  for (const [name, width] of pictures ? [["index", 375], ["index", 1280], ["docs/howto/modules", 1280], ["docs/reference/commands/rarebit-fit-rfn", 1280], ["c/modules_8h", 1280]] : []) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${origin}/${name}.html`);
    await page.screenshot({ path: path.join(pictures, `${name.replace(/\//g, "-")}-${width}.png`) });
  }
  console.log(`${pages.length} pages`);
  await browser.close();
  server.close();
  process.exit(failures ? 1 : 0);
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
