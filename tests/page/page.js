/* node page.js BROWSER FOLDER [PICTURES]: opens the pages in the folder (page.sh makes them) and does what
 * a reader does. Every check says what failed; PICTURES is a folder for screenshots. */
"use strict";
const { chromium } = require("playwright-core");
const fs = require("fs"), path = require("path");
const [browserPath, folder, pictures] = process.argv.slice(2);
const axe = require.resolve("axe-core/axe.min.js");
let failures = 0;

function check(holds, what) {
  if (holds) return;
  console.error("FAILED: " + what);
  failures++;
}
const same = (got, wanted, what) => check(String(got) === String(wanted), `${what}: ${got} instead of ${wanted}`);

async function open(browser, name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.on("console", (m) => check(false, `${name}: the console says ${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => check(false, `${name}: ${e.message}`));
  page.on("dialog", (d) => check(false, `${name}: a dialog: ${d.message()}`));
  page.on("request", (r) => check(/^(file:\/\/.*\.html|data:|blob:)/.test(r.url()), `${name}: asks for ${r.url()}`));
  await page.goto("file://" + path.join(folder, name + ".html"));
  return page;
}

async function accessible(page, what) {
  await page.addScriptTag({ path: axe });
  const { violations, passes } = await page.evaluate(() => axe.run({ resultTypes: ["violations"] }));
  check(passes.length > 10, `${what}: axe-core looked at nothing`);
  for (const v of violations) check(false, `${what}: ${v.id}: ${v.help}: ${v.nodes[0].html.slice(0, 200)}`);
}

async function download(page, button) {
  const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return { name: file.suggestedFilename(), text: fs.readFileSync(await file.path(), "utf8") };
}

const cellsOf = (page, table, column) => page.locator(table + " tbody tr").evaluateAll((rows, c) => rows.map((row) => row.children[c].textContent), column);
/* Waits for what the browser does after it has answered; what never comes is told by the check behind it. */
const until = (page, holds, argument) => page.waitForFunction(holds, argument, { timeout: 10000 }).catch(() => {});
const opened = (page, id) => until(page, (i) => document.getElementById(i).open && document.querySelector("#" + i + " .inside"), id);

const overview = "#modules ~ .table";
const read = (name) => fs.readFileSync(path.join(folder, name), "utf8");

async function reading(browser) {
  const page = await open(browser, "cells");
  same(await page.title(), "700 blood cells – rarebit report", "title");
  const told = await page.locator("#summary").innerText();
  check(/11 modules in 700 samples × 765 features, found by a rectified factor network with 11 units\./.test(told), "summary: " + told);
  check(/10 of 11 are enriched in one of the 10 known classes/.test(told), "summary of classes: " + told);
  same((await cellsOf(page, overview, 0)).length, 11, "rows of the overview");

  /* search */
  const search = page.getByLabel("Search modules");
  await search.fill("clec10a");
  same(await cellsOf(page, overview, 0), "unit 1", "search for a gene");
  same(await page.locator(overview + " output").innerText(), "1 of 11 rows", "what the search tells");
  await search.fill("no such thing");
  same((await cellsOf(page, overview, 0)).length, 0, "search for nothing");
  await search.fill("");

  /* sort */
  const samples = page.locator(overview).getByRole("button", { name: "Samples" });
  await samples.click();
  const down = (await cellsOf(page, overview, 1)).map(Number);
  same(down, down.slice().sort((a, b) => b - a), "samples, largest first");
  same(await samples.locator("..").getAttribute("aria-sort"), "descending", "aria-sort");
  await samples.click();
  same((await cellsOf(page, overview, 1)).map(Number), down.slice().sort((a, b) => a - b), "samples, smallest first");
  same(await samples.locator("..").getAttribute("aria-sort"), "ascending", "aria-sort");

  /* open a module */
  check(await page.locator("#unit-3").evaluate((d) => d.open), "the first module is not open");
  await page.locator(overview).getByRole("link", { name: "unit 9" }).click();
  await opened(page, "unit-9");
  check(await page.locator("#unit-9").evaluate((d) => d.open), "a click does not open unit 9");
  check(/89 of its 112 samples with a class are CD19\+ B/.test(await page.locator("#unit-9").innerText()), "the module's class");
  await page.locator("#unit-9").getByRole("button", { name: "Show all 112" }).click();
  same(await page.locator("#unit-9 table").nth(1).locator("tbody tr").count(), 112, "all samples of unit 9");

  /* heat maps: drawn, and told of under the pointer */
  const map = page.locator("#unit-9 canvas[role=img]");
  const colours = await map.evaluate((c) => new Set(new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer)).size);
  check(colours > 20, `the heat map has ${colours} colours`);
  const cell = /^CD79A in [ACGT]+-\d \(CD19\+ B\): [\d.]+ sd above the mean$/;
  let tip = "";
  for (let i = 0; i < 10 && !cell.test(tip); i++) { /* a page that moves below the pointer takes the tip away */
    await map.hover({ position: { x: 3 + (i % 2), y: 3 } });
    await page.locator("#tip").filter({ hasText: cell }).waitFor({ timeout: 1000 }).catch(() => {});
    tip = await page.locator("#tip").innerText();
  }
  check(cell.test(tip), "tip: " + tip);
  await page.locator("#unit-9 canvas").first().hover({ position: { x: 3, y: 3 } });
  check(/^[ACGT]+-\d \(CD19\+ B\)$/.test(await page.locator("#tip").innerText()), "tip of the strip: " + await page.locator("#tip").innerText());
  same(await page.locator("#unit-9 .below span").count(), 0, "names of so many samples");
  check(/Left out: 528 samples/.test(await page.locator("#unit-9 figcaption").innerText()), "what the map leaves out: " + await page.locator("#unit-9 figcaption").innerText());
  const label = await page.locator("#fit ~ .two figcaption").first().innerText();
  check(/From iteration 51 on, the dashed line, loadings are shrunk/.test(label), "where shrinking begins: " + label);
  const orders = [];
  for (const order of ["class", "unit", "data"]) {
    await page.getByLabel("Order of the samples").selectOption(order);
    orders.push(await page.locator("#codes ~ div canvas[role=img]").evaluate((c) => c.toDataURL()));
  }
  same(new Set(orders).size, 3, "orders of the codes that differ");
  await page.close();
}

async function keyboard(browser) {
  const page = await open(browser, "cells");
  await page.keyboard.press("Tab");
  same(await page.evaluate(() => document.activeElement.textContent), "Skip to the report", "the first stop");
  await page.keyboard.press("Enter");
  same(await page.evaluate(() => document.activeElement.id), "main", "where the skip link leads");
  const seen = new Set();
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const e = document.activeElement, style = getComputedStyle(e);
      return { what: e.tagName + " " + (e.getAttribute("aria-label") ?? e.textContent).slice(0, 20), outline: style.outlineStyle, sort: e.closest("th") && e.textContent === "Features" };
    });
    check(at.outline !== "none" && at.outline !== "", "no focus to be seen at " + at.what);
    if (at.sort && !seen.size) {
      await page.keyboard.press("Enter");
      same(await page.evaluate(() => document.activeElement.closest("th").getAttribute("aria-sort")), "descending", "sorting by the keyboard");
    }
    seen.add(at.what.split(" ")[0]);
  }
  for (const kind of ["BUTTON", "A", "INPUT", "SUMMARY", "CANVAS", "DIV"]) check(seen.has(kind), "Tab never reaches a " + kind);
  await page.locator("#unit-3 canvas[role=img]").focus();
  for (const key of ["ArrowRight", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  check(/ in .*: [\d.]+ sd (above|below) the mean/.test(await page.locator("#unit-3 figure output").innerText()), "arrow keys tell no cell");
  await page.locator("#unit-1 > summary").focus();
  await page.keyboard.press("Enter");
  await opened(page, "unit-1");
  check(await page.locator("#unit-1").evaluate((d) => d.open), "Enter does not open a module");
  await page.close();
}

/* What is saved is what `rarebit modules` writes, to the digits of the page. */
async function saving(browser) {
  const page = await open(browser, "cells");
  const lines = (text) => text.trim().split("\n").map((line) => line.split("\t"));
  const tsv = await download(page, page.getByRole("button", { name: "Modules (TSV)" }));
  const got = lines(tsv.text), wanted = lines(read("modules.tsv"));
  same(tsv.name, "modules.tsv", "name of the file");
  same(got.length, wanted.length, "lines of modules.tsv");
  for (let i = 0; i < Math.min(got.length, wanted.length); i++) {
    const exact = (row) => [row[0], row[1], ...row.slice(3, 6), row[8]].join();
    const near = [2, 6, 7].every((c) => i === 0 || Math.abs(got[i][c] - wanted[i][c]) <= 1e-3 * Math.abs(wanted[i][c]));
    if (exact(got[i]) === exact(wanted[i]) && near) continue;
    check(false, `modules.tsv, line ${i + 1}: ${got[i]} instead of ${wanted[i]}`);
    break;
  }
  const gmt = lines((await download(page, page.getByRole("button", { name: "Gene sets (GMT)" }))).text);
  const sets = (rows) => rows.map((row) => [row[0], ...row.slice(2)].join("\t")).join("\n");
  same(sets(gmt), sets(lines(read("modules.gmt"))), "modules.gmt");
  const codes = lines((await download(page, page.getByRole("button", { name: "Codes (TSV)" }))).text);
  same([codes.length, codes[0].length], [701, 12], "shape of codes.tsv");
  const json = JSON.parse((await download(page, page.getByRole("button", { name: "All of it (JSON)" }))).text);
  same(json.modules.length, 11, "modules of report.json");
  const table = lines((await download(page, page.locator(overview).getByRole("button", { name: "Save TSV" }))).text);
  same(table.length, 12, "lines of the overview");
  for (const [what, place] of [["heat map", "#unit-3 figure"], ["chart", "#fit ~ .two figure"]]) {
    const svg = (await download(page, page.locator(place).first().getByRole("button", { name: "Save SVG" }))).text;
    check(await page.evaluate((text) => !new DOMParser().parseFromString(text, "image/svg+xml").querySelector("parsererror"), svg), `the SVG of the ${what} is none`);
    check(/^<svg [^>]*xmlns=/.test(svg) && !/NaN|undefined/.test(svg) && /<(rect|path)/.test(svg), `the SVG of the ${what}: ${svg.slice(0, 200)}`);
  }
  await page.close();
}

async function everywhere(browser) {
  for (const name of ["all", "hostile"]) {
    for (const [what, options] of [["desktop", {}], ["dark", { colorScheme: "dark" }], ["phone", { viewport: { width: 390, height: 844 }, hasTouch: true }]]) {
      if (name === "hostile" && what === "desktop") continue;
      const page = await open(browser, name, { reducedMotion: "reduce", ...options });
      await page.evaluate(() => [...document.querySelectorAll("details")].slice(-2).forEach((d) => (d.open = true)));
      await until(page, () => [...document.querySelectorAll("details[open]")].every((d) => d.childElementCount > 1));
      await accessible(page, `${name}, ${what}`);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      check(width <= page.viewportSize().width, `${name}, ${what}: ${width} pixels wide`);
      check(!(await page.locator("body").innerText()).match(/undefined|NaN|\[object/), `${name}, ${what}: says undefined, NaN or [object`);
      check(await page.evaluate(() => window.hacked === undefined), `${name}, ${what}: a name was run`);
      if (pictures) await page.screenshot({ path: path.join(pictures, `${name}-${what}.png`), fullPage: true });
      await page.close();
    }
  }
  const page = await open(browser, "hostile");
  same(await page.locator("h1").innerText(), "<script>hacked=1</script>", "a title that is a script");
  check((await page.locator("body").innerText()).includes("</script><img src=x onerror=hacked=1>"), "a name is not told as it is");
  /* names of samples below the codes, where there is room */
  same(await page.locator("#codes ~ div .below span").count(), 60, "names below the codes");
  check((await page.locator("#codes ~ div .below").innerText()).includes("<script>hacked=1</script>"), "names below the codes are not told as they are");
  await page.setViewportSize({ width: 500, height: 800 });
  await until(page, () => document.querySelector("#codes ~ div .below").hidden);
  await page.setViewportSize({ width: 1200, height: 900 });
  same(await page.locator("#summary .warning").count() > 0, true, "a warning in the summary");
  check((await page.pdf()).length > 10000, "nothing is printed");
  await page.close();
}

/* Parts that are there when they were asked for. */
async function answers(browser) {
  const plain = await open(browser, "cells");
  for (const part of ["sets", "covariates", "select"]) same(await plain.locator("#" + part).count(), 0, `a part ${part} that nobody asked for`);
  await plain.close();
  const page = await open(browser, "all");
  check(/(All|\d+ of) 11 have an enriched gene set/.test(await page.locator("#summary").innerText()), "summary of sets");
  const best = await page.locator(overview + " tbody tr").first().innerText();
  check(/like unit3_(up|down) \(\d\.\de-\d+\)/.test(best), "the best set of the first module: " + best);
  check(/holds? more than permuted or rotated data give/.test(await page.locator("#summary").innerText()), "summary of permutations");
  const chances = (await cellsOf(page, overview, 5)).map(Number);
  check(chances.every((p) => p > 0 && p <= 1) && Math.min(...chances) < 0.05, "chances by permutations: " + chances);
  const sets = "#sets ~ .table";
  const first = await page.locator(sets + " tbody tr").first().innerText();
  check(/^like unit/.test(first) && /8 of 8/.test(first), "the set of smallest p: " + first);
  const covariates = await page.locator("#covariates ~ .table tbody tr").first().innerText();
  check(/^lymphoid\tunit 1\t700\t2\tH = /.test(covariates), "the first covariate: " + covariates);
  check(/At most \d+ % of a unit is explained: of unit 3, by lymphoid/.test(await page.locator("#covariates ~ p").first().innerText()), "what covariates explain");
  check(/Fits of 3 numbers of units .*: (\d+ units? stable in fits of \d|the rule could pick none)/.test(await page.locator("#select ~ p").first().innerText()), "what select says");
  check((await page.locator("#select ~ .two svg").count()) >= 8, "curves of select");
  const ticks = await page.locator("#select ~ .two svg text[text-anchor=end]").allTextContents();
  same(ticks[0], "0", "the first tick of stable units, a count");
  const consensus = await open(browser, "consensus");
  check(/Every module has a stability of at least 0\.[6-9][0-9]* in the 2 models of the consensus\./.test(await consensus.locator("#summary").innerText()), "summary of stability");
  const stability = await cellsOf(consensus, overview, 5);
  check(stability.length > 5 && stability.every((share) => Number(share) >= 0.6 && Number(share) <= 1), "stability: " + stability);
  await consensus.close();
  same(await cellsOf(page, "#select ~ .table", 0), "2,5,8", "numbers of units");
  await page.close();
}

/* Both sides of units whose codes have signs; background, which is none of the modules. */
async function sides(browser) {
  const page = await open(browser, "sides");
  const names = await cellsOf(page, overview, 0), other = names.find((name) => name.endsWith("-"));
  check(other && names.includes(other.slice(0, -1)), "both sides of a unit: " + names);
  await page.locator(overview).getByRole("link", { name: other, exact: true }).click();
  await opened(page, other.replace(" ", "-"));
  check((await page.locator("#" + other.replace(" ", "-")).innerText()).includes("U" + other.slice(1) + " ranks "), "the other side is not told of");
  const gmt = (await download(page, page.getByRole("button", { name: "Gene sets (GMT)" }))).text;
  same(gmt.split("\n").map((line) => line.split("\t")[0]).join(), read("sides.gmt").split("\n").map((line) => line.split("\t")[0]).join(), "names of sets");
  check(/checked for units that are all dead and units that follow the level of the samples, and for nothing else\./.test(await page.locator("#summary").innerText()), "what was looked at");
  await page.close();
  const mirror = await open(browser, "mirror"), told = await mirror.locator("#summary").innerText(), rows = await cellsOf(mirror, overview, 0);
  const rest = rows.filter((name) => /\((spare|background)\)$/.test(name)).length;
  check(rest > 0 && rows.slice(-rest).every((name) => name.endsWith("(background)")), "background is not last: " + rows);
  check(told.startsWith(`${rows.length - rest} module`) && told.includes(`${rest} more`), "summary of background: " + told);
  check(/No warning of the fit, which was checked for samples without an active unit, .* an objective that ended below its best and units that follow the level of the samples, and for nothing else\./.test(told), "what was looked at: " + told);
  await mirror.close();
  const noise = await open(browser, "noise");
  same(await noise.locator("#modules").innerText(), "Units", "the heading over units that are all spare");
  same(await noise.locator("details.module[open]").count(), 0, "spare units that are open");
  await noise.close();
}

/* The picture of the documents: the top of the page of the demo. */
async function picture(browser) {
  if (!pictures) return;
  const page = await open(browser, "demo", { viewport: { width: 1200, height: 1625 }, deviceScaleFactor: 0.8 });
  await page.screenshot({ path: path.join(pictures, "report.png") });
  await page.close();
}

async function large(browser) {
  const size = fs.statSync(path.join(folder, "big.html")).size, times = [];
  for (let i = 0; i < 3; i++) {
    const page = await open(browser, "big");
    const time = await page.evaluate(() => performance.getEntriesByType("navigation")[0].loadEventEnd);
    times.push(time);
    same((await cellsOf(page, overview, 0)).length, 20, "modules of 5000 samples");
    await page.close();
  }
  const best = Math.min(...times);
  console.log(`20 modules x 5000 samples: ${(size / 1e6).toFixed(2)} MB, open in ${best.toFixed(0)} ms`);
  check(size < 5e6, `the page of 20 modules x 5000 samples has ${size} bytes`);
  check(best < 10000, `the page of 20 modules x 5000 samples opens in ${best} ms`);
}

(async () => {
  const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
  for (const test of [reading, keyboard, saving, everywhere, answers, sides, picture, large]) {
    const start = Date.now();
    await test(browser);
    console.log(`${test.name}: ${((Date.now() - start) / 1000).toFixed(1)} s`);
  }
  await browser.close();
  process.exit(failures ? 1 : 0);
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
