// How far each machine of a sweep scales: what a chip makes, by how many there are.
function scalingText(s) {
  const far = s.scales_to_chips === s.smallest_chips ? "" : `, with ${shareText(s.efficiency)} of the tokens a chip of ${countText(s.smallest_chips)}`;
  if (!s.stops) return `scales to ${plural(s.scales_to_chips, "chip")}${far}: all that were planned`;
  const batch = { "batch-limit": "; the batch may not grow", "step-limit": "; a step may not take longer" }[s.stops.limited_by] || "";
  return `scales to ${plural(s.scales_to_chips, "chip")}${far}; ${countText(s.stops.chips)} have ${shareText(s.stops.efficiency)}, because of ${inWords(s.stops.grown)} (a token takes ${shareText(s.stops.growth)} more chip time for it)${batch}`;
}

const ratePerChip = (cell) => cell.tokens_per_second / cell.chips;

function drawScaling(model, cells, colours, width) {
  const at = { x: "chips", y: ratePerChip, z: "hardware" }, colour = (cell) => `var(--${colours.get(cell.hardware)})`;
  const text = (cell) => `${numberText(ratePerChip(cell))} tokens/s a chip\n${cellText(cell)}, limited by ${inWords(cell.limited_by)}`;
  const sizes = [...new Set(cells.map((cell) => cell.chips))].sort((a, b) => a - b), shown = sizes.filter((_, i) => i % Math.ceil(sizes.length / (width / 64)) === 0);
  const svg = plot({ width, height: Math.min(320, Math.max(220, width * 0.4)), marginLeft: 62, marginRight: 14, marginTop: 22, marginBottom: 38, insetLeft: 10, insetRight: 10,
    x: { type: "log", label: "chips", labelAnchor: "center", labelArrow: "none", ticks: shown, tickFormat: countText }, y: { domain: [0, Math.max(...cells.map(ratePerChip))], nice: true, label: "tokens/s a chip", labelArrow: "none", ticks: 5, tickFormat: tickText(numberText), grid: true }, marks: [
      Plot.line(cells, { ...at, stroke: colour, strokeWidth: 2 }), Plot.dot(cells, { ...at, r: 5, fill: colour, stroke: "var(--card)", className: "points" })] },
  `${model}: tokens a second and chip by chips, ${plural(colours.size, "machine")}`);
  return tagged(svg, "points", cells, (cell) => ({ tabindex: "0", role: "img", "data-row": cell.hardware, "data-series": String(cell.chips), "data-value": ratePerChip(cell), "aria-label": text(cell).replaceAll("\n", ": "), "data-tip": text(cell) }));
}

function scalingCard(answer, model) {
  const scaling = answer.scaling.filter((s) => s.model === model);
  if (!scaling.length) return null;
  const cells = answer.cells.filter((c) => c.model === model && c.feasible).sort((a, b) => a.chips - b.chips);
  const colours = new Map([...new Set(cells.map((c) => c.hardware))].map((machine, i) => [machine, axisColours[i % axisColours.length]]));
  return card(Object.keys(answer.answers.by_model).length > 1 ? `How far ${model} scales` : "How far each machine scales",
    figure(`scaling ${model}`, `What a chip makes; a machine scales as far as that is ${shareText(scaling[0].share)} of what it is at the smallest size`,
      el("div", {}, responsive((width) => drawScaling(model, cells, colours, width)), legend([...colours].map(([label, colour]) => ({ label, colour })))),
      dataTable("Tokens a second and chip", [{ title: "machine", text: (c) => c.hardware }, { title: "chips", number: true, text: (c) => countText(c.chips) }, { title: "tokens/s a chip", number: true, text: (c) => numberText(ratePerChip(c)) },
        { title: "limited by", text: (c) => inWords(c.limited_by) }], cells)),
    el("ul", { class: "reasons" }, scaling.map((s) => el("li", {}, el("b", {}, s.hardware), ` ${scalingText(s)}`))));
}

