"use strict";
/* What the page draws: heat maps on canvases and line charts as SVG, both also saved as SVG. */

/* h("td", {class: "number"}, "text", node, ...): text is never read as HTML. */
const h = (tag, attributes = {}, ...content) => fill(document.createElement(tag), attributes, content);
const s = (tag, attributes = {}, ...content) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, content);
function fill(element, attributes, content) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...content.flat(Infinity).filter((item) => item !== null && item !== undefined && item !== false));
  return element;
}

function save(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type: type + ";charset=utf-8" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
const saveSvg = (name, svg) => {
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  save(name, new XMLSerializer().serializeToString(svg), "image/svg+xml");
};

/* ---- the tip: beside the pointer, or below what has the focus ---- */

const tip = document.getElementById("tip");
function showTip(text, x, y) {
  tip.hidden = !text;
  tip.textContent = text;
  if (!text) return;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(x + 12, innerWidth - box.width - 4)) + "px";
  tip.style.top = (y + 18 + box.height > innerHeight ? y - box.height - 8 : y + 18) + "px";
}
function withTip(element, text) {
  element.addEventListener("pointermove", (e) => showTip(text, e.clientX, e.clientY));
  element.addEventListener("focus", () => {
    const box = element.getBoundingClientRect();
    if (element.matches(":focus-visible")) showTip(text, box.left, box.bottom - 12);
  });
  for (const end of ["pointerleave", "blur", "click"]) element.addEventListener(end, () => showTip(""));
  return element;
}
addEventListener("keydown", (e) => e.key === "Escape" && showTip(""));

/* ---- colours ---- */

/* Below, at and above 0, in light and in dark; what is missing is grey. */
const ramps = { light: [[33, 94, 168], [247, 247, 247], [178, 36, 43]], dark: [[110, 168, 236], [32, 36, 40], [246, 122, 102]] };
/* Those of the plots (rb_class_colour), which repeat, paler. */
const classColours = [[0, 107, 173], [230, 153, 13], [0, 148, 112], [204, 84, 13], [107, 184, 230], [199, 115, 163], [128, 84, 163], [237, 219, 77], [143, 97, 61], [140, 191, 89]];
const darkScheme = matchMedia("(prefers-color-scheme: dark)");
let printing = false;
const ramp = () => ramps[darkScheme.matches && !printing ? "dark" : "light"];
function classColour(index) {
  if (index === undefined) return "#b3b3b3";
  const pale = Math.min(0.25 * Math.floor(index / classColours.length), 0.75);
  return rgb(classColours[index % classColours.length].map((level) => Math.round(level + (255 - level) * pale)));
}

/* position from -1 to 1 */
function mix(colours, position) {
  const end = colours[position < 0 ? 0 : 2], share = Math.min(1, Math.abs(position));
  return colours[1].map((from, c) => Math.round(from + (end[c] - from) * share));
}
const rgb = (colour) => "rgb(" + colour.join(",") + ")";
/* Without signs from white to blue, as in the plots. */
const shade = (map, value, colours) => mix(colours, (map.signed ? value : -value) / map.high);
const rampCss = (signed) => `linear-gradient(to right, ${(signed ? [-1, 0, 1] : [0, -1]).map((p) => rgb(mix(ramp(), p))).join(",")})`;

const drawn = []; /* what is drawn again when the colours change */
const redraw = () => drawn.forEach((draw) => draw());
darkScheme.addEventListener("change", redraw);
addEventListener("beforeprint", () => { printing = true; redraw(); });
addEventListener("afterprint", () => { printing = false; redraw(); });

/* ---- heat maps ---- */

const NAME = 11; /* pixels that a name needs beside the next one */

/* map: {rows: names, columns, columnName(c): or null where there is none; classes: of the columns, or
 * null; place(class): which colour it has; value(r, c): number or null; high: value of the darkest colour; signed; height: of a row;
 * label; groups: [{name, count}] below; tell(r, c): what a cell is, in words; file: name to save} */
function heatMap(map, caption) {
  const canvas = h("canvas", { width: map.columns.length || 1, height: map.rows.length || 1, role: "img", tabindex: 0,
    "aria-label": map.label + " Arrow keys walk through its cells." });
  const strip = map.classes && h("canvas", { width: map.columns.length || 1, height: 1, style: "height:10px;margin-bottom:3px", "aria-hidden": "true" });
  const height = map.height || 14, readout = h("output", {}), bar = h("i", { class: "ramp" });
  canvas.style.height = height * map.rows.length + "px";
  if (map.columns.length < 600) [canvas, strip].forEach((c) => c && c.classList.add("fine"));
  const draw = () => {
    const context = canvas.getContext("2d"), image = context.createImageData(canvas.width, canvas.height), colours = ramp();
    for (let r = 0, at = 0; r < map.rows.length; r++) {
      for (let c = 0; c < map.columns.length; c++, at += 4) {
        const value = map.value(r, c), colour = value === null ? [150, 150, 150] : shade(map, value, colours);
        image.data.set([...colour, 255], at);
      }
    }
    context.putImageData(image, 0, 0);
    bar.style.background = rampCss(map.signed);
    if (strip) map.classes.forEach((index, c) => {
      const brush = strip.getContext("2d");
      brush.fillStyle = classColour(map.place(index));
      brush.fillRect(c, 0, 1, 1);
    });
  };
  draw();
  drawn.push(draw);
  const at = { r: -1, c: 0 };
  if (strip) strip.addEventListener("pointermove", (e) => {
    const box = strip.getBoundingClientRect(), c = Math.floor(((e.clientX - box.left) / box.width) * map.columns.length);
    if (c >= 0 && c < map.columns.length) showTip(map.tellColumn(c), e.clientX, e.clientY);
  });
  if (strip) strip.addEventListener("pointerleave", () => showTip(""));
  canvas.addEventListener("pointermove", (e) => {
    const box = canvas.getBoundingClientRect();
    const r = Math.min(map.rows.length - 1, Math.floor(((e.clientY - box.top) / box.height) * map.rows.length));
    const c = Math.min(map.columns.length - 1, Math.floor(((e.clientX - box.left) / box.width) * map.columns.length));
    if (r >= 0 && c >= 0) showTip(map.tell(r, c), e.clientX, e.clientY);
  });
  canvas.addEventListener("pointerleave", () => showTip(""));
  canvas.addEventListener("keydown", (e) => {
    const step = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[e.key];
    if (!step || !map.rows.length) return;
    e.preventDefault();
    at.r = Math.max(0, Math.min(map.rows.length - 1, at.r + step[0]));
    at.c = Math.max(0, Math.min(map.columns.length - 1, at.c + step[1]));
    readout.textContent = map.tell(at.r, at.c);
  });
  const all = map.columns.length, names = h("div", { class: "below", "aria-hidden": "true" });
  new ResizeObserver(() => {
    const fit = map.columnName && canvas.clientWidth >= NAME * all;
    if (fit && !names.childElementCount) names.append(...map.columns.map((_, c) => h("span", {}, map.columnName(c))));
    names.hidden = !fit;
  }).observe(canvas);
  const figure = h("figure", {},
    h("figcaption", {}, caption),
    h("div", { class: "map" },
      strip && h("div", { class: "names muted" }, "class"), strip,
      h("div", { class: "names", "aria-hidden": "true" }, map.rows.map((name) => h("div", { style: `height:${height}px;line-height:${height}px` }, name))),
      h("div", {}, canvas), names,
      h("div", { class: "axis" }, (map.groups || []).map((g) => h("span", { style: `width:${(100 * g.count) / all}%`, title: g.name }, g.count > 0.07 * all ? g.name : "")))),
    h("div", { class: "bar" },
      h("ul", { class: "key" }, h("li", {}, map.signed ? `−${map.high} ` : "0 ", bar, ` ${map.high} ${map.unit || ""}`),
        [...new Set(map.classes || [])].sort((a, b) => (a ?? 1e9) - (b ?? 1e9)).slice(0, 12).map((index) =>
          h("li", {}, h("i", { style: "background:" + classColour(map.place(index)) }), index === undefined ? "no class" : map.className(index)))),
      readout,
      h("button", { type: "button", onclick: () => saveSvg(map.file + ".svg", mapSvg(map, height)) }, "Save SVG")));
  return figure;
}

/* Neighbours of one colour become one rectangle. */
function mapSvg(map, height) {
  const left = 130, top = map.classes ? 44 : 30, width = Math.max(400, Math.min(1000, map.columns.length * NAME));
  const step = width / map.columns.length, rects = [];
  const row = (y, tall, colour) => {
    for (let c = 0, next; c < map.columns.length; c = next) {
      for (next = c + 1; next < map.columns.length && colour(next) === colour(c); next++);
      rects.push(s("rect", { x: (left + c * step).toFixed(2), y, width: ((next - c) * step).toFixed(2), height: tall, fill: colour(c) }));
    }
  };
  if (map.classes) row(30, 10, (c) => classColour(map.place(map.classes[c])));
  map.rows.forEach((name, r) => row(top + r * height, height, (c) => {
    const value = map.value(r, c);
    return value === null ? "#969696" : rgb(shade(map, Math.round((10 * value) / map.high) * map.high / 10, ramps.light));
  }));
  const bottom = top + height * map.rows.length, named = map.columnName && step >= NAME;
  return s("svg", { width: left + width + 10, height: bottom + (named ? 110 : 10), "font-family": "sans-serif", "font-size": 10 },
    s("text", { x: left, y: 18, "font-size": 14 }, map.label), rects,
    map.rows.map((name, r) => s("text", { x: left - 5, y: top + (r + 0.75) * height, "text-anchor": "end" }, name)),
    named && map.columns.map((_, c) => s("text", { transform: `translate(${(left + (c + 0.5) * step + 3).toFixed(2)} ${bottom + 5}) rotate(-90)`, "text-anchor": "end" }, map.columnName(c))));
}

/* ---- line and bar charts ---- */

function ticks(low, high, most) {
  const rough = (high - low) / most || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((f) => f * power >= rough) * power, list = [];
  for (let t = Math.ceil(low / step); t * step <= high + 1e-9 * step; t++) list.push(Number((t * step).toPrecision(12)));
  return list;
}

/* points: [[x, y], ...]; y null is a gap. amounts: counts or shares, from 0 to at least 1; bars: one a point. */
function chart({ points, across, up, label, file, bars, amounts = bars, mark }) {
  const there = points.filter((p) => p[1] !== null), xs = points.map((p) => p[0]), ys = there.map((p) => p[1]);
  const box = { left: 64, right: 622, top: 12, bottom: 206 };
  let low = amounts ? 0 : Math.min(...ys), high = Math.max(...ys, ...(amounts ? [1] : []));
  const whole = amounts && (high > 1 || ys.every(Number.isInteger));
  if (low === high) [low, high] = [low - 1, high + 1];
  const first = Math.min(...xs) - (bars ? 0.5 : 0), last = Math.max(...xs) + (bars ? 0.5 : 0);
  const x = (v) => box.left + ((v - first) / (last - first || 1)) * (box.right - box.left);
  const y = (v) => box.bottom - ((v - low) / (high - low)) * (box.bottom - box.top);
  const text = (attributes, content) => s("text", { fill: "currentColor", "font-size": 12, ...attributes }, String(content));
  const path = points.map((p, i) => (p[1] === null ? "" : (i && points[i - 1][1] !== null ? "L" : "M") + x(p[0]).toFixed(1) + " " + y(p[1]).toFixed(1))).join("");
  const svg = s("svg", { viewBox: "0 0 640 250", width: 640, height: 250, class: "chart", role: "img", "aria-label": label, "font-family": "system-ui, sans-serif" },
    ticks(low, high, 5).filter((t) => !whole || Number.isInteger(t)).map((t) => [
      s("line", { x1: box.left, x2: box.right, y1: y(t), y2: y(t), stroke: "currentColor", "stroke-opacity": 0.15 }),
      text({ x: box.left - 6, y: y(t) + 4, "text-anchor": "end" }, t)]),
    ticks(first, last, 8).filter((t) => Number.isInteger(t)).map((t) => text({ x: x(t), y: box.bottom + 18, "text-anchor": "middle" }, t)),
    text({ x: (box.left + box.right) / 2, y: 244, "text-anchor": "middle" }, across),
    text({ x: 14, y: (box.top + box.bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${(box.top + box.bottom) / 2})` }, up),
    mark >= first && mark <= last && s("line", { x1: x(mark), x2: x(mark), y1: box.top, y2: box.bottom, stroke: "currentColor", "stroke-dasharray": "4 4" }),
    bars
      ? there.map((p) => withTip(s("rect", { x: x(p[0] - 0.4), y: y(p[1]), width: x(0.8) - x(0), height: box.bottom - y(p[1]), fill: "#4477aa" }), `${p[0]}: ${p[1]}`))
      : [s("path", { d: path, fill: "none", stroke: "#4477aa", "stroke-width": 2 }),
         there.length < 60 && there.map((p) => withTip(s("circle", { cx: x(p[0]), cy: y(p[1]), r: 4, fill: "#4477aa" }), `${p[0]}: ${p[1]}`))]);
  return h("figure", {}, h("figcaption", {}, label), svg,
    h("div", { class: "bar" }, h("button", { type: "button", onclick: () => {
      const copy = svg.cloneNode(true);
      copy.setAttribute("color", "#222");
      saveSvg(file + ".svg", copy);
    } }, "Save SVG")));
}
