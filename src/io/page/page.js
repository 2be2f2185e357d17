/* The page: sentences, tables and pictures of the document D. A part appears when D has it. */
const D = JSON.parse(document.getElementById("document").textContent);
const main = document.getElementById("main"), units = D.model.units;

/* ---- numbers and names as text ---- */

const whole = (n) => n.toLocaleString("en-US");
const plural = (n, word) => `${whole(n)} ${word}${n === 1 ? "" : "s"}`;
function number(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value)) return whole(value);
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}
/* A probability given as its decimal logarithm may be too small for a number. */
function ofLog(log10) {
  if (log10 === null) return "–";
  if (log10 > -3) return String(Number((10 ** log10).toPrecision(2)));
  const power = Math.floor(log10);
  return `${(10 ** (log10 - power)).toFixed(1)}e${power}`;
}
/* Names and meanings of columns are those of every table of rarebit. */
const sentence = (text) => (text.length > 1 ? text[0].toUpperCase() + text.slice(1) : text);
const of = (table, key, more) => ({ label: sentence(D.columns[table][key][0]), tip: sentence(D.columns[table][key][1]), number: true, value: (row) => row[key], ...more });
const ofLogs = (table, key, name) => of(table, key, { up: true, value: (row) => row[name], show: (row) => ofLog(row[name]), save: (row) => ofLog(row[name]) });
const chances = (table) => [ofLogs(table, "p_value", "log10_p_value"), ofLogs(table, "fdr", "log10_fdr")];
const column = (k) => D.names.columns[k] ?? k;
const cell = { samples: (i) => D.names.samples[i] ?? String(i), features: (k) => D.names.features[k] ?? String(column(k)) };
const sampleName = (i) => D.names.samples[i] ?? "sample " + i;
const featureName = (k) => D.names.features[k] ?? "feature " + column(k);
const classIn = (i) => (D.classes ? ` (${classOf(i) === undefined ? "no class" : className(classOf(i))})` : "");
const namedSamples = Object.keys(D.names.samples).length > 0;
const classOf = (i) => D.classes?.of[i];
const className = (c) => D.classes.names[c];
const place = (c) => D.classes.places[c]; // among all classes of the table: colours go by it
const stem = (path) => path.split("/").pop().replace(/(\.(gz|tsv|csv|txt|npy|mtx|h5ad|h5))+$/, "");
const attribute = (name) => D.model.attributes[name];

/* The features of a module that are up or down: heaviest first. */
const signed = (m, sign) => m.features.filter((_, i) => m.feature_weights[i] * sign > 0);
const heads = (m, sign, most) => signed(m, sign).slice(0, most).map(cell.features).join(", ");

/* ---- parts ---- */

function part(id, title, ...content) {
  main.append(h("section", {}, h("h2", { id, tabindex: -1 }, title), content));
  document.getElementById("parts").append(h("li", {}, h("a", { href: "#" + id }, title)));
}
const button = (text, onclick) => h("button", { type: "button", onclick }, text);

/* A table that is searched, sorted and saved. columns: {label, tip, value(row): what is sorted,
 * show(row): what is seen, save(row): what is saved, number, up: smallest first, wide}; the first column
 * heads the row. */
function table({ title, file, columns, rows, first = 25 }) {
  const collator = new Intl.Collator("en", { numeric: true });
  const body = h("tbody"), told = h("output", {}), more = button("", () => { shown = Infinity; show(); });
  let shown = first, order = null, sought = "";
  const text = (row) => columns.map((c) => String(c.value(row) ?? "")).join("\u0001").toLowerCase();
  const heads = columns.map((c) => {
    const name = h("button", { type: "button", onclick: () => { order = { column: c, down: order?.column === c ? !order.down : !!c.number && !c.up }; show(); } }, c.label);
    if (c.tip) {
      const id = "tip-" + ++table.tips;
      withTip(name, c.tip).setAttribute("aria-describedby", id);
      return h("th", { scope: "col", class: (c.number ? "number" : "") + (c.wide ? " wide" : "") }, name, h("span", { id, hidden: true }, c.tip));
    }
    return h("th", { scope: "col", class: (c.number ? "number" : "") + (c.wide ? " wide" : "") }, name);
  });
  const seen = (c, row) => (c.show ? c.show(row) : c.number ? number(c.value(row)) : c.value(row) ?? "–");
  function show() {
    let found = rows.filter((row) => !sought || text(row).includes(sought));
    if (order) {
      const { column: c, down } = order, sign = down ? -1 : 1;
      const empty = (v) => v === null || v === undefined || v === "";
      found = found.slice().sort((a, b) => {
        const x = c.value(a), y = c.value(b);
        if (empty(x) || empty(y)) return empty(x) - empty(y);
        return sign * (c.number ? x - y : collator.compare(x, y));
      });
    }
    heads.forEach((head, i) => head.setAttribute("aria-sort", order?.column !== columns[i] ? "none" : order.down ? "descending" : "ascending"));
    body.replaceChildren(...found.slice(0, shown).map((row) => h("tr", {}, columns.map((c, i) =>
      h(i ? "td" : "th", { scope: i ? null : "row", class: (c.number ? "number" : "") + (c.wide ? " wide" : "") }, seen(c, row))))));
    told.textContent = found.length === rows.length ? plural(rows.length, "row") : `${whole(found.length)} of ${plural(rows.length, "row")}`;
    more.hidden = found.length <= shown;
    more.textContent = `Show all ${whole(found.length)}`;
  }
  const clean = (value) => String(value ?? "").replace(/[\t\r\n]/g, " ");
  const tsv = () => [columns.map((c) => c.label), ...rows.map((row) => columns.map((c) => (c.save ?? c.value)(row)))].map((line) => line.map(clean).join("\t") + "\n").join("");
  show();
  return h("div", { class: "table" },
    h("div", { class: "bar" },
      rows.length > 5 && h("label", {}, h("span", {}, "Search", h("span", { class: "hidden" }, ` ${title.toLowerCase()}`)), h("input", { type: "search", oninput: (e) => { sought = e.target.value.toLowerCase(); show(); } })),
      told, button("Save TSV", () => save(file + ".tsv", tsv(), "text/tab-separated-values"))),
    h("div", { class: "wrap", role: "region", tabindex: 0, "aria-label": "Table: " + title },
      h("table", {}, h("caption", {}, title), h("thead", {}, h("tr", {}, heads)), body)),
    more);
}
table.tips = 0;

/* Facts: a name, a value and perhaps what it means. */
const facts = (title, rows) => h("div", { class: "wrap facts", role: "region", tabindex: 0, "aria-label": "Table: " + title },
  h("table", {}, h("caption", {}, title), h("tbody", {}, rows.filter((row) => row[1] !== undefined && row[1] !== null)
    .map(([name, value, meaning]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value), h("td", { class: "muted" }, meaning ?? ""))))));

/* ---- what is known of each module ---- */

const modules = D.modules, called = modules.filter((m) => ["module", "other side"].includes(m.role)), moduleOf = new Map();
modules.forEach((m, rank) => {
  m.rank = rank;
  m.none = { spare: "spare", background: "background" }[m.role];
  m.other_side = m.role === "other side";
  m.name = m.unit + (m.other_side ? "-" : "");
  if (!m.other_side || !moduleOf.has(m.unit)) moduleOf.set(m.unit, m);
  m.class = D.classes?.modules[rank];
  m.sets = (D.sets?.rows ?? []).filter((row) => row.module === rank);
  m.set = m.sets.reduce((best, row) => (!best || row.log10_fdr < best.log10_fdr ? row : best), undefined);
});
const moduleLink = (m) => [h("a", { href: "#unit-" + m.name, onclick: () => open(m.name) }, "unit " + m.name), m.none && ` (${m.none})`];
const unitLink = (unit) => (moduleOf.has(unit) ? moduleLink(moduleOf.get(unit)) : "unit " + unit);
function open(name) {
  const details = document.getElementById("unit-" + name);
  if (details) details.open = true;
}
const unitColumn = { label: "Unit", value: (row) => row.unit, show: (row) => (row.name ? moduleLink(row) : row.unit >= 0 ? unitLink(row.unit) : "–"), save: (row) => row.name ?? row.unit, number: true,
  tip: "The number of the unit in the model: the same in every file and picture" };

/* ---- active units of the samples ---- */

const codes = D.codes.units, shownSamples = codes.length ? codes[0].length : 0;
/* Codes of binary causes are probabilities: such a cause is active when it is more likely than not. */
const metric = (name) => D.metrics.find((m) => m.name === name)?.value;
const probable = metric("causes_used") !== undefined, least = probable ? 0.5 : 0;
const active = Array.from({ length: shownSamples }, (_, i) => codes.filter((unit) => Math.abs(unit[i]) > least).length);
const mean = (values) => values.reduce((sum, v) => sum + v, 0) / (values.length || 1);

/* ---- summary ---- */

const noWarning = `No warning of the fit, which was checked for ${D.checks.join(", ").replace(/, ([^,]*)$/, " and $1")}, and for nothing else.`;

function summary() {
  const sentences = [], n = called.length, rest = modules.length - n;
  const few = (count) => (count === 0 ? "none" : count < n ? `${count} of ${n}` : n === 1 ? "it" : `all ${n}`);
  const be = (count) => (count < 2 ? "is" : "are");
  sentences.push(`${plural(n, "module")} in ${plural(D.data.samples, "sample")} × ${plural(D.data.features, "feature")}, found by a ${D.model.title} with ${plural(units, "unit")}.${rest ? ` ${whole(rest)} more ${rest === 1 ? "unit is" : "units are"} spare, no more than noise may give, or background, which centring leaves where the modules are not.` : ""}`);
  const tests = [];
  if (D.classes) {
    const count = called.filter((m) => m.class?.class).length;
    tests.push(`${few(count)} ${be(count)} enriched in one of the ${plural(D.classes.names.length, "known class").replace("classs", "classes")} (p ≤ 0.05, corrected for all tries; AUC above 0.5; at least a quarter of the module)`);
  }
  if (D.sets) {
    const count = called.filter((m) => m.set?.log10_fdr <= Math.log10(0.05)).length;
    tests.push(`${few(count)} ${count < 2 ? "has" : "have"} an enriched gene set (false discovery rate 5 %)`);
  }
  if (called.some((m) => m.stability !== undefined)) {
    const share = Math.min(...called.map((m) => m.stability ?? 1));
    tests.push(`${n === 1 ? "it" : "every module"} has a stability of at least ${(Math.floor(1000 * share) / 1000).toFixed(3)} in the ${attribute("consensus_models") ?? ""} models of the consensus`);
  }
  if (called.some((m) => m.p_family !== undefined)) {
    const count = called.filter((m) => m.p_family <= 0.05).length;
    const floor = Math.min(...modules.map((m) => m.p_family ?? 1));
    if (floor > 0.05 && modules.every((m) => m.p_family === floor)) tests.push("there were too few permutations to tell whether they hold more than chance: take 19 or more");
    else tests.push(`${few(count)} hold${count < 2 ? "s" : ""} more than permuted or rotated data give (family-wise p ≤ 0.05)`);
  }
  tests.forEach((test) => sentences.push(test[0].toUpperCase() + test.slice(1) + "."));
  const zeros = codes.flat().filter((code) => code === 0).length / (units * shownSamples || 1), dead = metric("dead_units");
  sentences.push(`A sample has ${number(Number(mean(active).toPrecision(2)))} of the ${units} units active on average${probable ? "" : `; ${Math.round(100 * zeros)} % of the codes are zero`}.${dead ? ` ${plural(dead, "unit")} ${dead === 1 ? "is" : "are"} active in no sample of the fit.` : ""}`);
  const first = D.warnings.length;
  sentences.push(first ? `${plural(first, "warning")} of the fit:` : noWarning);
  const name = D.title ?? `${stem(D.model.file)}: ${stem(D.data.file)}`;
  document.title = `${name} – rarebit report`;
  document.getElementById("title").textContent = name;
  document.getElementById("summary").append(...sentences.map((text) => h("p", {}, text)));
  document.getElementById("summary").append(...D.warnings.map((text) => h("p", { class: "warning" }, h("b", {}, "Warning: "), text)));
}

/* ---- modules ---- */

function overview() {
  const has = (name) => modules.some((m) => m[name] !== undefined);
  const columns = [unitColumn,
    of("modules", "n_samples"), of("modules", "n_features"), of("modules", "score"), of("modules", "information"),
    has("stability") && of("modules", "stability"), has("p_family") && of("modules", "p_family", { up: true }), has("fdr") && of("modules", "fdr", { up: true }),
    D.classes && of("classes", "class", { label: "Best class", number: false, value: (m) => m.class?.class, wide: true, show: (m) => (m.class?.class ? `${m.class.class}: ${m.class.overlap} of ${m.class.class_size}` : "–") }),
    D.sets && { label: "Best set", value: (m) => m.set?.set, wide: true, show: (m) => (m.set ? `${m.set.set} (${ofLog(m.set.log10_fdr)})` : "–"),
      tip: "The gene set of smallest false discovery rate, in brackets" },
    { label: "Up", value: (m) => heads(m, 1, 5), wide: true, tip: "Features of largest positive weight: high in the samples of the module, unless their weights are negative" },
    { label: "Down", value: (m) => heads(m, -1, 5), wide: true, tip: "Features of largest negative weight: low in the samples of the module, unless their weights are negative" }].filter(Boolean);
  const title = called.length ? "Modules" : "Units";
  part("modules", title,
    h("p", {}, "A module is a set of samples and a set of features that one unit ties together. Information says how much it tells of its samples; the rule for members is ",
      h("code", {}, D.rule), ". They are ordered by their score.",
      modules.some((m) => m.other_side) && " Where both sides of a unit whose codes have signs stand by themselves, each is a module: unit 3 and unit 3-."),
    modules.length ? table({ title, file: "modules", columns, rows: modules, first: 40 }) : h("p", {}, "No unit has a module."),
    modules.map((m) => moduleDetails(m)));
}

function moduleDetails(m) {
  const details = h("details", { class: "module", id: "unit-" + m.name },
    h("summary", {}, h("b", {}, "Unit " + m.name), m.none && `${m.none} · `, `${plural(m.n_samples, "sample")}, ${plural(m.n_features, "feature")}`,
      m.class?.class && ` · ${m.class.class}`, m.set && ` · ${m.set.set}`, m.features.length > 0 && ` · ${heads(m, 1, 4) || heads(m, -1, 4)}`));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(h("div", { class: "inside" }, moduleInside(m)));
  });
  return details;
}

function moduleInside(m) {
  const up = signed(m, 1).length, file = "unit" + m.name, all = m.features.length === m.n_features;
  const none = { spare: "spare: it tells no more than noise may", background: "background: what centring leaves in the samples that are in no module" };
  const place = m.none ? `is ${none[m.none]}. It is no module, and is not counted.` : `ranks ${m.rank + 1} of ${called.length} (score: ${number(m.score)} nats).`;
  const told = [`Unit ${m.name} ${place} It ties ${plural(m.n_samples, "sample")} to ${plural(m.n_features, "feature")}, of which ${all ? "" : "among those listed "}${whole(up)} ${up === 1 ? "is" : "are"} up and ${whole(m.features.length - up)} down.`];
  if (m.class?.class) told.push(`${m.class.overlap} of its ${m.class.module_size} samples with a class are ${m.class.class}, a class of ${m.class.class_size} (corrected p ${ofLog(m.class.log10_p_value_adjusted)}).`);
  if (m.stability !== undefined) told.push(`Its stability is ${m.stability.toFixed(3)}: the share of the models of the consensus that have it, each by how similar its unit is.`);
  if (m.p_family !== undefined) told.push(`The chance of such a unit among all units of permuted or rotated data is ${number(m.p_family)}, of permuted data alone ${number(m.p_permuted)}.`);
  const members = (side, name) => {
    const weights = m[side.slice(0, -1) + "_weights"], listed = m[side].length, count = m["n_" + side];
    const rows = m[side].map((index, i) => ({ index, weight: weights[i] }));
    return h("div", {}, table({ title: `${name} of unit ${m.name}${listed < count ? `: the ${whole(listed)} heaviest of ${whole(count)}` : ""}`, file: `${file}-${side}`, first: 12, rows, columns: [
      { label: name.slice(0, -1), value: (row) => cell[side](row.index), wide: true },
      { label: "Weight", value: (row) => row.weight, number: true, tip: side === "samples" ? "Code over the root mean square of the unit's codes" : "Loading on the matching scale; its sign says up or down" },
      side === "samples" && D.classes && { label: "Class", value: (row) => D.classes.names[classOf(row.index)], wide: true }].filter(Boolean) }));
  };
  return [told.map((text) => h("p", {}, text)), m.map.features.length ? moduleMap(m, file) : null,
    m.sets.length ? setTable(m.sets, `Gene sets of unit ${m.name}`, file + "-sets", true) : null,
    h("div", { class: "two" }, members("features", "Features"), members("samples", "Samples"))];
}

function moduleMap(m, file) {
  const { samples, features, values, members } = m.map, others = samples.length - members;
  const names = features.map(featureName), rest = D.data.samples - samples.length, fewer = m.n_features - features.length;
  const leftOut = rest > 0 || fewer > 0 ? ` Left out: ${[rest > 0 && plural(rest, "sample"), fewer > 0 && `${plural(fewer, "feature")} of the module that weigh${fewer === 1 ? "s" : ""} less`].filter(Boolean).join(", ")}.` : "";
  return heatMap({ rows: features.map(cell.features), columns: samples, classes: D.classes ? samples.map(classOf) : null, className, place, high: 2.5, signed: true, unit: "sd",
    value: (r, c) => { const tenths = values[r * samples.length + c]; return tenths === null ? null : tenths / 10; },
    label: `Unit ${m.name}: ${features.length} features by ${samples.length} samples.`, file: file + "-map",
    groups: [{ name: members === m.n_samples ? "in the module" : `the ${members} heaviest of the module`, count: members }, { name: "other samples", count: others }].filter((g) => g.count),
    columnName: namedSamples ? (c) => sampleName(samples[c]) : null, tellColumn: (c) => sampleName(samples[c]) + classIn(samples[c]),
    tell: (r, c) => {
      const tenths = values[r * samples.length + c];
      return `${names[r]} in ${sampleName(samples[c])}${classIn(samples[c])}: ${tenths === null ? "missing" : `${Math.abs(tenths / 10)} sd ${tenths < 0 ? "below" : "above"} the mean`}`;
    } },
    `Values as the model sees them, each feature standardised over all samples. At the left the samples of the module, heaviest first${others ? `; at the right ${others} others` : ""}.${leftOut}`);
}

/* ---- codes ---- */

function codesMap() {
  const at = (i) => i * D.codes.step, live = codes.map((_, u) => u).filter((u) => codes[u].some((code) => code !== 0));
  const shown = live.slice().sort((a, b) => (moduleOf.get(a)?.rank ?? units) - (moduleOf.get(b)?.rank ?? units));
  const rms = codes.map((unit) => Math.sqrt(mean(unit.map((code) => code * code))) || 1), negative = codes.some((unit) => unit.some((code) => code < 0));
  const strongest = Array.from({ length: shownSamples }, (_, i) => shown.reduce((best, u, place) => (Math.abs(codes[u][i] / rms[u]) > best.size ? { size: Math.abs(codes[u][i] / rms[u]), place } : best), { size: 0, place: units }));
  const by = { class: (a, b) => (classOf(at(a)) ?? 1e9) - (classOf(at(b)) ?? 1e9) || by.unit(a, b),
    unit: (a, b) => strongest[a].place - strongest[b].place || strongest[b].size - strongest[a].size || a - b, data: (a, b) => a - b };
  const holder = h("div", {});
  const draw = (how) => {
    const order = Array.from({ length: shownSamples }, (_, i) => i).sort(by[how]), groups = [];
    order.forEach((i) => {
      const name = how === "class" ? D.classes.names[classOf(at(i))] ?? "no class" : how === "unit" ? (strongest[i].size ? "unit " + shown[strongest[i].place] : "none") : plural(shownSamples, "sample");
      if (groups.at(-1)?.name === name) groups.at(-1).count++;
      else groups.push({ name, count: 1 });
    });
    holder.replaceChildren(heatMap({ rows: shown.map((u) => "unit " + u), columns: order, classes: D.classes ? order.map((i) => classOf(at(i))) : null, className, place, high: 3, signed: negative, unit: "(code / root mean square)",
      value: (r, c) => codes[shown[r]][order[c]] / rms[shown[r]], height: 18, groups, file: "codes", label: `Codes: ${plural(shown.length, "unit")} by ${plural(shownSamples, "sample")}.`,
      columnName: namedSamples ? (c) => sampleName(at(order[c])) : null, tellColumn: (c) => sampleName(at(order[c])) + classIn(at(order[c])),
      tell: (r, c) => `Unit ${shown[r]} in ${sampleName(at(order[c]))}${classIn(at(order[c]))}: ${number(codes[shown[r]][order[c]])}` },
      `How active each unit is in each sample; ${negative ? "nothing" : "the background"} is 0.${shown.length < units ? ` ${plural(units - shown.length, "unit")} without any code ${units - shown.length === 1 ? "is" : "are"} left out.` : ""}${D.codes.step > 1 ? ` Of the samples every ${D.codes.step}th is shown.` : ""}`));
  };
  const choices = { ...(D.classes && { class: "class, then strongest unit" }), unit: "strongest unit", data: "order of the data" };
  draw(Object.keys(choices)[0]);
  part("codes", "Codes", h("div", { class: "bar" }, h("label", {}, "Order of the samples",
    h("select", { onchange: (e) => draw(e.target.value) }, Object.entries(choices).map(([value, text]) => h("option", { value }, text))))), holder);
}

/* ---- classes, gene sets, covariates ---- */

function classes() {
  part("classes", "Classes", h("p", {}, `${plural(D.classes.labelled, "sample")} have a class (${D.classes.file}), which the fit did not see.${D.classes.labelled < D.data.samples ? ` ${plural(D.data.samples - D.classes.labelled, "sample")} ${D.data.samples - D.classes.labelled === 1 ? "has" : "have"} none: grey in the heat maps, and left out of the tests.` : ""} For each class the unit that marks it best, by the codes of all units.`),
    table({ title: "Best unit of each class", file: "classes", rows: D.classes.units.filter((row) => row.best), columns: classColumns }),
    table({ title: "Every unit and class", file: "units-classes", first: 10, rows: D.classes.units.slice().sort((a, b) => a.log10_p_value - b.log10_p_value), columns: classColumns }));
}
const classColumns = [{ label: "Class", value: (row) => row.class, wide: true },
  of("unit_classes", "class_size"), unitColumn, of("unit_classes", "auc"), ...chances("unit_classes"), of("unit_classes", "overlap")];

const questions = { up: "up", down: "down", rank: "by weight" };
const setTable = (rows, title, file, one) => table({ title, file, rows, columns: [
  { label: "Set", value: (row) => row.set, wide: true }, ...(one ? [] : [unitColumn]),
  { label: "Features", value: (row) => questions[row.test], tip: "Those of the module that are up, or down; or all in use, ordered by their loadings" },
  of("feature_sets", "overlap", { show: (row) => (row.test === "rank" ? `${row.set_size}` : `${row.overlap} of ${row.set_size}`) }), of("feature_sets", "fold"), of("feature_sets", "auc"),
  ...chances("feature_sets"),
  { label: "In both", value: (row) => row.features.map(cell.features).join(", "), wide: true }] });

function sets() {
  const { file, tested, background, rows } = D.sets;
  part("sets", "Gene sets", h("p", {}, `${plural(tested, "set")} of ${file} against the features of each module, those up and those down apart, and against the loadings of each unit; the background are the ${plural(background, "feature")} in use. Of each unit the best are shown.`),
    setTable(rows.slice().sort((a, b) => a.log10_p_value - b.log10_p_value), "Gene sets", "gene-sets"));
}

function covariates() {
  const rows = D.covariates.rows.slice().sort((a, b) => (a.log10_p_value ?? 1) - (b.log10_p_value ?? 1)), percent = (row) => (row.explained === null ? "–" : `${Number((100 * row.explained).toPrecision(2))} %`);
  const most = rows.reduce((best, row) => (row.explained > (best?.explained ?? 0) ? row : best), null);
  part("covariates", "Covariates", h("p", {}, `Codes of each unit against what else is known of the samples (${D.covariates.file}): numbers by Spearman's rank correlation, groups by the test of Kruskal and Wallis.${most ? ` At most ${percent(most)} of a unit is explained: of unit ${most.unit}, by ${most.covariate}.` : ""}`),
    table({ title: "Covariates", file: "covariates", rows, columns: [
      { label: "Covariate", value: (row) => row.covariate, wide: true }, unitColumn,
      of("covariate_tests", "samples"), of("covariate_tests", "groups", { value: (row) => row.groups || null }),
      of("covariate_tests", "value", { show: (row) => `${row.groups ? "H" : "ρ"} = ${number(row.value)}` }),
      of("covariate_tests", "explained", { show: percent }), ...chances("covariate_tests")] }));
}

/* Curves over the numbers of units that were tried; the dashed line is the one to fit. */
function select() {
  const { file, columns, rows } = D.select, words = { stable: "stable units", objective: "objective, best of the fits", held_out: "held-out log-likelihood of a sample",
    held_out_error: "held-out mean squared error", match: "match of two fits", shared: "share of units found in both of two fits", used: "units used", duplicated: "duplicated units", background: "units of the background", empty: "samples without a unit", beyond_noise: "units beyond noise" };
  const free = ["objective", "held_out", "held_out_error"], choice = columns.indexOf("choice"), row = rows.find((row) => row[choice] === "picked"), picked = row?.[0], stable = row?.[columns.indexOf("stable")];
  const told = choice < 0 ? `the dashed line stands at the ${units} of this model` : picked === undefined ? "the rule could pick none"
    : `${stable === undefined ? "the rule picks" : `${plural(stable, "unit")} stable in fits of`} ${picked}, where the dashed line stands; this model has ${units}`;
  const curve = (name) => {
    const c = columns.indexOf(name), points = rows.map((row) => [row[0], row[c] ?? null]);
    return points.filter((p) => p[1] !== null).length > 1 && chart({ points, across: "units", up: name.replaceAll("_", " "), amounts: !free.includes(name), mark: choice < 0 ? units : picked, file: "select-" + name,
      label: `${words[name][0].toUpperCase()}${words[name].slice(1)}, for ${rows[0][0]} to ${rows.at(-1)[0]} units.` });
  };
  part("select", "How many units?", h("p", {}, `Fits of ${plural(rows.length, "number")} of units (${file}): ${told}.`),
    h("div", { class: "two" }, Object.keys(words).filter((name) => columns.includes(name)).map(curve)),
    table({ title: "Numbers of units", file: "select", rows, columns: columns.map((name, c) => ({ label: name.replaceAll("_", " "), value: (row) => row[c], number: c !== choice })) }));
}

/* ---- fit, data, origin ---- */

function fit() {
  const objective = D.model.objective, steps = objective.map((value, i) => [i + 1, value]), counts = [];
  active.forEach((count) => (counts[count] = (counts[count] ?? 0) + 1));
  const from = D.model.shrinks_from;
  const bars = Array.from({ length: units + 1 }, (_, count) => [count, counts[count] ?? 0]);
  part("fit", "Is the fit healthy?",
    D.warnings.length ? D.warnings.map((text) => h("p", { class: "warning" }, h("b", {}, "Warning: "), text)) : h("p", {}, noWarning),
    h("p", {}, steps.length === 0 ? "The model has no iterations of its own." : `The fit ended after ${plural(D.model.iterations, "iteration")} (${D.model.status}). A line that still moves at its right end asks for more.`),
    h("div", { class: "two" },
      steps.length > 1 && chart({ points: steps, across: "iteration", up: "objective", file: "objective", mark: from || undefined,
        label: `Objective over ${plural(steps.length, "iteration")}: from ${number(objective[0])} to ${number(objective.at(-1))}.${from ? ` From iteration ${from} on, the dashed line, loadings are shrunk, which lowers it.` : ""}` }),
      chart({ points: bars, bars: true, across: "active units", up: "samples", file: "active-units", label: `Samples by their number of active units: ${whole(counts[0] ?? 0)} have none, ${whole(counts[units] ?? 0)} have all ${units}.` })),
    facts("Metrics of the model on these data", D.metrics.map((m) => [m.label ?? m.name.replaceAll("_", " "), number(m.value), m.meaning])));
}

function data() {
  const d = D.data, was = attribute("data_checksum"), steps = ["drop-samples", "totals", "log1p", "centre-samples", "regress", "missing", "drop", "top-variance", "centre", "scale"];
  part("data", "The data",
    h("p", {}, `${plural(d.samples, "sample")} × ${plural(d.features, "feature")} from ${d.file}${D.model.features === d.features ? "" : `, of which the model uses ${whole(D.model.features)} features`}. ${was === undefined ? "" : was === d.checksum ? "The model was fitted to these very numbers." : (attribute("drop-samples") ?? "none") !== "none" ? "The fit left out samples that are equal or constant." : "The model was fitted to other numbers than these."}`),
    facts("Data", [["File", d.file], ["Format", [d.format, d.sparse ? "sparse" : "dense"].filter(Boolean).join(", ")], ["Samples", whole(d.samples)], ["Features", whole(d.features)],
      ["Range", `${number(d.minimum)} to ${number(d.maximum)}`], ["Not zero", whole(d.nonzeros)], ["Missing", whole(d.missing)],
      ["Checksum", d.checksum, "CRC-32 of the numbers"], ["Checksum at the fit", was]]),
    facts("Preprocessing, in this order", steps.map((name) => [name, attribute(name)])));
}

function keep() {
  const clean = (text) => text.replace(/[\t\r\n]/g, " "), lines = [["module", "unit", "information", "kind", "name", "index", "weight", "score", "role"].join("\t")];
  const gmt = called.flatMap((m) => [["up", 1], ["down", -1]].map(([word, sign]) => [word, signed(m, sign)]).filter(([, set]) => set.length)
    .map(([word, set]) => [`unit${m.name}_${word}`, `rank ${m.rank}, information ${m.information}`, ...set.map((k) => clean(cell.features(k)))].join("\t") + "\n"));
  modules.forEach((m) => ["sample", "feature"].forEach((kind) => m[kind + "s"].forEach((index, i) =>
    lines.push([m.rank, m.unit, m.information, kind, clean(cell[kind + "s"](index)), kind === "feature" ? column(index) : index, m[kind + "_weights"][i], m.score, m.role].join("\t")))));
  const code = () => ["sample", ...codes.map((_, u) => "unit" + u)].join("\t") + "\n" + Array.from({ length: shownSamples }, (_, i) => [clean(cell.samples(i * D.codes.step)), ...codes.map((unit) => unit[i])].join("\t") + "\n").join("");
  part("save", "Save", h("p", {}, "What this page shows, as files; numbers have the digits of the page. ", h("code", {}, "rarebit modules"), " and ", h("code", {}, "rarebit encode"), " write all digits."),
    h("div", { class: "bar", style: "justify-content:start" },
      button("Modules (TSV)", () => save("modules.tsv", lines.join("\n") + "\n", "text/tab-separated-values")),
      button("Gene sets (GMT)", () => save("modules.gmt", gmt.join(""), "text/plain")),
      button("Codes (TSV)", () => save("codes.tsv", code(), "text/tab-separated-values")),
      button("All of it (JSON)", () => save("report.json", JSON.stringify(D), "application/json"))));
}

function origin() {
  const settings = Object.entries(D.model.attributes).filter(([name]) => name !== "command_line");
  part("origin", "How to reproduce it",
    h("p", {}, "The same data, commands and version give the same bits on the same kind of processor, with any number of threads."),
    h("pre", { tabindex: 0, "aria-label": "Commands" }, [attribute("command_line"), D.command].filter(Boolean).join("\n")),
    facts("Versions", [["rarebit, this page", D.version], ["rarebit, the fit", attribute("program_version")], ["Seed", attribute("seed")],
      ...Object.entries(D.build).map(([name, value]) => [name, value])]),
    h("details", { class: "module" }, h("summary", {}, "Every setting of the fit"), h("div", { class: "inside" }, facts("Settings", settings))),
    D.notes.length ? [h("h3", {}, "Remarks on the way"), h("ul", {}, D.notes.map((text) => h("li", {}, text)))] : null);
  document.getElementById("footer").append(`Made by rarebit ${D.version}. This file holds all it shows and asks the network for nothing.`);
}

/* ---- all of it ---- */

summary();
overview();
if (active.some((count) => count)) codesMap();
if (D.classes) classes();
if (D.sets) sets();
if (D.covariates) covariates();
fit();
if (D.select?.rows.length) select();
data();
keep();
origin();
function follow() {
  const unit = /^#unit-(\d+-?)$/.exec(location.hash);
  if (unit) open(unit[1]);
}
addEventListener("hashchange", follow);
if (location.hash) follow();
else if (called.length) open(called[0].name);
