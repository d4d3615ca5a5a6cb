// How far each machine of a sweep scales: what a chip makes, by how many there are.
function stopText(s) {
  const batch = { "batch-limit": "; the batch may not grow", "step-limit": "; a step may not take longer" }[s.stops.limited_by] || "";
  const why = `because of ${inWords(s.stops.grown)} (a token takes ${shareText(s.stops.growth)} more chip time for it)${batch}`;
  const far = s.scales_to_chips === s.smallest_chips ? "" : `, with ${shareText(s.efficiency)} of the tokens a chip of ${countText(s.smallest_chips)}`;
  return ` scales to ${plural(s.scales_to_chips, "chip")}${far}; ${countText(s.stops.chips)} have ${shareText(s.stops.efficiency)}, ${why}`;
}

/** Those that stop, each with its reason; those that don't are a line for each size that they reach. */
function scalingList(scaling) {
  const further = [...d3.group(scaling.filter((s) => !s.stops), (s) => s.scales_to_chips)].map(([chips, machines]) => el("li", {},
    `All the way to ${plural(chips, "chip")}, as far as was planned; of the tokens a chip of its smallest size makes `,
    machines.map((s, i) => [i ? ", " : "", el("b", {}, s.hardware), ` ${shareText(s.efficiency)}`])));
  return el("ul", { class: "reasons" }, scaling.filter((s) => s.stops).map((s) => el("li", {}, el("b", {}, s.hardware), stopText(s))), further);
}

const ratePerChip = (cell) => cell.tokens_per_second / cell.chips;
const shapes = ["circle", "square", "triangle", "diamond"], dashes = [null, "7 4", "2 3"];

/** How a machine is drawn, on the whole page the same: a colour that comes again has another shape and dash. */
function machineLooks(answer) {
  const machines = [...new Set(answer.cells.map((c) => c.hardware))];
  return new Map(machines.map((machine, i) => [machine, { colour: axisColours[i % axisColours.length], shape: shapes[i % shapes.length],
    dash: dashes[Math.floor(i / axisColours.length) % dashes.length] }]));
}

/** What the legend shows of a machine: a piece of its line, with its point. */
function lookSample({ colour, shape, dash }) {
  const at = { x: () => 13, y: () => 6 }, mark = { stroke: `var(--${colour})`, strokeWidth: 2 };
  return plot({ width: 26, height: 12, x: { type: "identity" }, y: { type: "identity" }, axis: null, marks: [
    Plot.link([0], { x1: 0, x2: 26, y1: 6, y2: 6, ...mark, strokeDasharray: dash }),
    Plot.dot([0], { ...at, r: 4, fill: `var(--${colour})`, stroke: "var(--card)", symbol: shape })] });
}

/** Of sizes on a logarithmic scale as many as have room for their numbers. */
function sizesWithRoom(sizes, length) {
  const whole = Math.log(sizes.at(-1) / sizes[0]) || 1, place = (size) => (Math.log(size / sizes[0]) / whole) * length, room = 44;
  return sizes.reduce((kept, size) => (kept.length && place(size) - place(kept.at(-1)) < room ? kept : [...kept, size]), []);
}

/** The machines' names at the ends of their lines, moved apart where they would lie on each other. */
function nameLines(svg, ends, looks) {
  const least = 14, y = svg.scale("y"), x = svg.scale("x");
  const labels = ends.map((cell) => ({ cell, from: { x: x.apply(cell.chips) + 7, y: y.apply(ratePerChip(cell)) } })).sort((a, b) => a.from.y - b.from.y);
  labels.forEach((label, i) => { label.y = Math.max(label.from.y, i ? labels[i - 1].y + least : 0); });
  const below = labels.length ? labels.at(-1).y - y.range[0] : 0;
  if (below > 0) for (let i = labels.length - 1, limit = y.range[0]; i >= 0; i -= 1, limit -= least) labels[i].y = Math.min(labels[i].y, limit);
  const to = Math.max(...labels.map((label) => label.from.x)) + 16;
  labels.forEach(({ cell, from, y: at }) => svg.append(
    svgEl("path", { d: `M${from.x},${from.y}L${to},${at}`, stroke: `var(--${looks.get(cell.hardware).colour})`, fill: "none" }),
    svgEl("text", { x: to + 4, y: at, dy: "0.35em", "text-anchor": "start" }, cell.hardware)));
  return svg;
}

function drawScaling(model, cells, looks, width) {
  const machines = d3.group(cells, (cell) => cell.hardware), colour = (cell) => `var(--${looks.get(cell.hardware).colour})`;
  const text = (cell) => `${numberText(ratePerChip(cell))} tokens/s a chip\n${cellText(cell)}, limited by ${inWords(cell.limited_by)}`;
  const sizes = [...new Set(cells.map((cell) => cell.chips))].sort((a, b) => a - b), named = width >= stackedBelow;
  const longest = Math.max(...[...machines.keys()].map((machine) => machine.length));
  const left = 62, right = named ? 40 + 7 * longest : 14, inset = 10, at = { x: "chips", y: ratePerChip };
  const ticks = sizesWithRoom(sizes, width - left - right - 2 * inset);
  const svg = plot({ width, height: Math.min(320, Math.max(220, width * 0.4)), marginLeft: left, marginRight: right, marginTop: 22, marginBottom: 38, insetLeft: inset, insetRight: inset,
    x: { type: "log" }, y: { domain: [0, Math.max(...cells.map(ratePerChip))], nice: true, label: "tokens/s a chip", labelArrow: "none", ticks: 5, tickFormat: tickText(numberText), grid: true }, marks: [
      Plot.axisX(ticks, { text: countText, label: "chips", labelAnchor: "center", labelArrow: "none" }),  // a log scale's own format leaves numbers out
      [...machines].map(([machine, own]) => Plot.line(own, { ...at, stroke: colour, strokeWidth: 2, strokeDasharray: looks.get(machine).dash })),
      Plot.dot(cells, { ...at, r: 4.5, symbol: (cell) => looks.get(cell.hardware).shape, fill: colour, stroke: "var(--card)", className: "points" })] },
  `${model}: tokens a second and chip by chips, ${plural(machines.size, "machine")}`);
  if (named) nameLines(svg, [...machines.values()].map((own) => own.at(-1)), looks);
  return tagged(svg, "points", cells, (cell) => ({ tabindex: "0", role: "img", "data-row": cell.hardware, "data-series": String(cell.chips), "data-value": ratePerChip(cell), "aria-label": text(cell).replaceAll("\n", ": "), "data-tip": text(cell) }));
}

function scalingCard(answer, model, looks) {
  const scaling = answer.scaling.filter((s) => s.model === model);
  if (!scaling.length) return null;
  const cells = answer.cells.filter((c) => c.model === model && c.feasible).sort((a, b) => a.chips - b.chips);
  const machines = [...looks.keys()].filter((machine) => cells.some((c) => c.hardware === machine));
  return card(`How far ${model} scales`,
    figure(`scaling ${model}`, `What a chip makes; a machine scales as far as that is ${shareText(scaling[0].share)} of what it is at the smallest size`,
      el("div", {}, responsive((width) => drawScaling(model, cells, looks, width)), legend(machines.map((label) => ({ label, drawing: lookSample(looks.get(label)) })))),
      dataTable(`${model}: tokens a second and chip`, [{ title: "machine", text: (c) => c.hardware }, { title: "chips", number: true, text: (c) => countText(c.chips) }, { title: "tokens/s a chip", number: true, text: (c) => numberText(ratePerChip(c)) },
        { title: "limited by", text: (c) => inWords(c.limited_by) }], cells)),
    scalingList(scaling));
}
