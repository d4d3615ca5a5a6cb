// Stacked bars on one scale. A row is {label, note, segments: [{label, value, text, colour, hatched}]}; the sum of a row's
// values is what its bar shows.
const barHeights = { thin: 18, tall: 30 };

/** `over`: marks on top, on the scale of the bar. */
function bar(row, whole, height, over = []) {
  const parts = row.segments.filter((s) => s.value > 0), stacked = { x: "value", insetRight: 1 };
  return responsive((width) => tagged(plot({ width, height, x: { domain: [0, whole], axis: null }, marks: [
    Plot.frame({ fill: "var(--track)", stroke: "none" }), Plot.barX(parts, { ...stacked, fill: colourOf, className: "parts" }),
    hatching(parts, stacked), ...over] }), "parts", parts, (s) => ({ "data-series": s.label, "data-value": s.value })));
}

function barRow(row, whole, tall, over) {
  const said = row.segments.filter((s) => s.value > 0).map((s) => `${s.label} ${s.text}`).join("\n");
  const name = [row.label, row.note].filter(Boolean).join(": ");
  return el("div", { class: "bar-row", tabindex: "0", role: "img", "aria-label": `${name}. ${said.replaceAll("\n", ", ")}`,
    "data-tip": said || "nothing", "data-row": row.label },
  el("div", { class: "label" }, el("b", {}, row.label), el("span", { class: "num soft" }, row.note)),
  bar(row, whole, tall ? barHeights.tall : barHeights.thin, over));
}

const scaleRow = (whole, unit) => responsive((width) => plot({ width, height: 18, marginBottom: 18, x: { domain: [0, whole], axis: null }, marks: [unitAxis(whole, unit, width)] }));

/** Each label once, in the order of first use; nothing where one says all. */
function legendOf(rows) {
  const seen = new Map();
  for (const row of rows) for (const s of row.segments) if (s.value > 0 && !seen.has(s.label)) seen.set(s.label, s);
  return seen.size > 1 ? [...seen.values()] : [];
}

function stackedBars(rows, unit, { whole, tall, key = true } = {}) {
  const largest = whole || Math.max(...rows.map((row) => sum(row.segments.map((s) => s.value))), Number.MIN_VALUE);
  return el("div", {}, rows.map((row) => barRow(row, largest, tall)), scaleRow(largest, unit), key ? legend(legendOf(rows)) : null);
}

const barTable = (caption, rows, unit) => {
  const flat = rows.flatMap((row) => row.segments.map((s) => ({ row: row.label, ...s })));
  return dataTable(caption, [
    { title: "row", text: (r) => r.row }, { title: "part", text: (r) => r.label },
    { title: unit, number: true, text: (r) => r.text }], flat);
};
