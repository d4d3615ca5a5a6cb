// Observable Plot in the page's colours, with its tips. What a chart shows is said by the row or figure around it, or by its
// marks where the keyboard reaches them.
const colourOf = (one) => `var(--${one.colour})`;

/** Named for assistive technology where its marks are; else hidden from it. */
function plot(options, name) {
  const svg = Plot.plot({ margin: 0, ...options, style: { background: "none", overflow: "visible", fontFamily: "inherit", fontSize: "11px", color: "var(--soft)" } });
  d3.select(svg).selectAll("g[aria-label]").attr("aria-label", null);  // Plot's words for its marks
  return fill(svg, name ? { role: "group", "aria-label": name } : { "aria-hidden": "true" }, []);
}

/** The elements of the mark with this class get the attributes of their data. */
function tagged(svg, markClass, data, attributesOf) {
  d3.select(svg).selectAll(`.${markClass} > *`).each(function (index) { fill(this, attributesOf(data[index]), []); });
  return svg;
}

/** Over what may not be, or is not compute. */
const hatching = (data, options) => Plot.barX(data, { ...options, fill: (one) => (one.hatched ? "url(#hatching)" : "none"), pointerEvents: "none" });
const hatchingPattern = () => svgEl("svg", { width: 0, height: 0, style: "position:absolute", "aria-hidden": "true" }, svgEl("defs", {},
  svgEl("pattern", { id: "hatching", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svgEl("rect", { width: 2.5, height: 6, fill: "var(--card)", opacity: 0.5 }))));

/** Without what says nothing: "1.00 s" is "1 s", "1.50 s" "1.5 s". */
const tickText = (text) => (value) => (value === 0 ? "0" : text(value).replace(/(\.\d*?)0+(?!\d)/, "$1").replace(/\.(?!\d)/, ""));

/** Ticks of a scale from 0 that are round in the unit: {text, size}. */
const ticksOf = (whole, unit, width) => d3.ticks(0, whole / unit.size, Math.max(2, Math.min(8, width / 90))).map((value) => value * unit.size);
const inSeconds = { text: timeText, size: 1 }, inBytes = { text: trafficText, size: 1 }, inGibibytes = { text: memoryText, size: 2 ** 30 }, inTokens = { text: numberText, size: 1 };
const unitAxis = (whole, unit, width) => Plot.axisX(ticksOf(whole, unit, width), { anchor: "bottom", tickFormat: tickText(unit.text), tickSize: 4, label: null });

const redraws = [];
const redrawAll = () => redraws.forEach((redraw) => redraw());

/** Draws into a place at its width, again whenever that changes. */
function responsive(draw) {
  const host = el("div", {});
  let width = 0;
  const redraw = () => {
    const now = Math.floor(host.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    host.replaceChildren(draw(width));
  };
  redraws.push(redraw);
  onResize(host, redraw);
  return host;
}
