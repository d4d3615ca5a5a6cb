// Stacked bars on one scale. A row is {label, note, segments: [{label, value, text, colour, hatched}]}; the sum of a row's
// values is what its bar shows.
function barRow(row, whole, tall) {
  const said = row.segments.filter((s) => s.value > 0).map((s) => `${s.label} ${s.text}`).join("\n");
  const name = [row.label, row.note].filter(Boolean).join(": ");
  return el("div", { class: "bar-row", tabindex: "0", role: "img", "aria-label": `${name}. ${said.replaceAll("\n", ", ")}`,
    "data-tip": said || "nothing", "data-row": row.label },
  el("div", { class: "label" }, el("b", {}, row.label), el("span", { class: "num soft" }, row.note)),
  el("div", { class: tall ? "bar tall" : "bar" }, row.segments.filter((s) => s.value > 0).map((s) =>
    el("span", { class: s.hatched ? "hatched" : null, "data-series": s.label, "data-value": s.value,
      style: `width:${(100 * s.value) / whole}%;background-color:var(--${s.colour})` }))));
}

/** The legend has each label once, in the order of first use. */
function legendOf(rows) {
  const seen = new Map();
  for (const row of rows) for (const s of row.segments) if (s.value > 0 && !seen.has(s.label)) seen.set(s.label, s);
  return seen.size > 1 ? legend([...seen.values()]) : null;
}

function stackedBars(rows, { whole, tall, key = true } = {}) {
  const largest = whole || Math.max(...rows.map((row) => sum(row.segments.map((s) => s.value))), Number.MIN_VALUE);
  return el("div", {}, rows.map((row) => barRow(row, largest, tall)), key ? legendOf(rows) : null);
}

const barTable = (caption, rows, unit) => {
  const flat = rows.flatMap((row) => row.segments.map((s) => ({ row: row.label, ...s })));
  return dataTable(caption, [
    { title: "row", text: (r) => r.row }, { title: "part", text: (r) => r.label },
    { title: unit, number: true, text: (r) => r.text }], flat);
};
