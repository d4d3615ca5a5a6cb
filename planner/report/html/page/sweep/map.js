// The map of a model's cells: machines by sizes, coloured by one measure, with all cells in a table behind it.
/** What a map can be coloured by; more of `value`, more colour. */
const measures = [
  { name: "days", title: "Days", value: (c) => 1 / c.days, shown: (c) => c.days, text: (c) => numberText(c.days) },
  { name: "cost", title: "Cost", value: (c) => 1 / c.cost, shown: (c) => c.cost, text: (c) => dollarsText(c.cost) },
  { name: "tokens/s", title: "Tokens a second", value: (c) => c.tokens_per_second, shown: (c) => c.tokens_per_second, text: (c) => numberText(c.tokens_per_second) },
  { name: "tokens/s a chip", title: "Tokens a second and chip", value: (c) => c.tokens_per_second / c.chips, shown: (c) => c.tokens_per_second / c.chips, text: (c) => numberText(c.tokens_per_second / c.chips) },
];
const measuresOf = (cells) => measures.filter((m) => cells.some((c) => c.feasible && m.shown(c) !== null));

function cellTip(answer, cell, names) {
  const head = `${cell.model} on ${cellText(cell)}`;
  if (!cell.feasible) return `${head}\n${inWords(cell.limited_by)}: ${cell.reason}`;
  return [head, names.length ? names.join(", ") : "", `${takes(cell)}${isLate(answer, cell) ? ", too late" : ""}`, `${cellRateText(cell)} tokens/s, MFU ${shareText(cell.plan.model_flops_utilization)}`,
    lacks(cell) ? "the time that gradients of experts' biases take there is not known" : "",
    `limited by ${inWords(cell.limited_by)}`, `${meshText(cell.plan.mesh)}, ${cell.plan.rules} rules, remat ${cell.plan.remat}`,
    misfit(cell.plan.fit, cell.plan)].filter(Boolean).join("\n");
}

/** `shade`: from 0 to 1. Text stays readable on all of them. What a cell says to a pointer it says to a screen reader. */
function mapCell(answer, choice, cell, measure, shade) {
  if (!cell) return el("td", { class: "none" }, el("span", { class: "sr" }, "not planned"));
  const names = namesOf(cell, choice), tip = cellTip(answer, cell, names), shown = cell.feasible && measure.shown(cell) !== null;
  const text = shown ? measure.text(cell) : cell.feasible ? "–" : "no";
  const said = { "data-tip": tip, "aria-label": `${shown ? `${measure.title} ` : ""}${text}: ${tip.replaceAll("\n", ", ")}` };
  if (!shown) return el("td", { class: "no", ...said }, text);
  return el("td", { class: ["n", isLate(answer, cell) ? "late" : "", names.length ? "named" : ""].filter(Boolean).join(" "), ...said, "data-series": String(cell.chips), "data-value": measure.shown(cell),
    style: `background-color:color-mix(in srgb, var(--blue) ${Math.round(8 + 42 * shade)}%, var(--card))` },
  names.length ? el("span", { "aria-hidden": "true" }, "★ ") : null, text);
}

function mapTable(answer, model, cells, measure) {
  const machines = [...new Set(cells.map((c) => c.hardware))], sizes = [...new Set(cells.map((c) => c.chips))].sort((a, b) => a - b);
  const values = cells.filter((c) => c.feasible && measure.shown(c) !== null).map(measure.value);
  const low = Math.log(Math.min(...values)), high = Math.log(Math.max(...values));
  const longest = Math.max(...cells.filter((c) => c.feasible && measure.shown(c) !== null).map((c) => measure.text(c).length));
  const shade = (cell) => (high > low ? (Math.log(measure.value(cell)) - low) / (high - low) : 1);
  const at = (machine, chips) => cells.find((c) => c.hardware === machine && c.chips === chips);
  const title = `${model}: ${measure.title} by machine and chips`;
  return fitted(el("div", { class: "scroll" },
    walkedByArrows(el("table", { class: "map", role: "grid", "aria-label": `${title}; arrow keys go from cell to cell`, style: `min-width:calc(92px + ${sizes.length} * (${longest + 2}ch + 12px));max-width:${92 + 170 * sizes.length}px` }, el("caption", { class: "sr" }, title),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "chips"), sizes.map((chips) => el("th", { scope: "col", class: "n" }, countText(chips))))),
      el("tbody", {}, machines.map((machine) => el("tr", { "data-row": machine }, el("th", { scope: "row" }, machine),
        sizes.map((chips) => { const cell = at(machine, chips); return mapCell(answer, answer.answers.by_model[model], cell, measure, cell && cell.feasible && measure.shown(cell) !== null ? shade(cell) : 0); }))))))));
}

/** A map that is wider than the screen opens on the first cell to take. */
function showNamedCells(within) {
  for (const map of within.querySelectorAll(".scroll")) {
    const named = map.querySelector(".map .named");
    if (named) map.scrollLeft += named.getBoundingClientRect().right - map.getBoundingClientRect().right + 8;
  }
}

/** Where no cell is possible, why each isn't. */
const reasonColumns = [{ title: "machine", text: (c) => c.hardware }, { title: "chips", number: true, text: (c) => countText(c.chips) },
  { title: "limited by", text: (c) => inWords(c.limited_by) }, { title: "reason", text: (c) => c.reason }];

const cellColumns = (answer) => [
  { title: "machine", text: (c) => c.hardware }, { title: "chips", number: true, text: (c) => countText(c.chips) },
  { title: "tokens/s", number: true, text: (c) => (c.feasible ? cellRateText(c) : "–") },
  ...(answer.tokens === null ? [] : [{ title: "days", number: true, text: (c) => (c.days === null ? "–" : `${numberText(c.days)}${isLate(answer, c) ? ", too late" : ""}`) },
    { title: "chip-hours", number: true, text: (c) => (c.chip_hours === null ? "–" : countText(c.chip_hours)) },
    { title: "cost", number: true, text: (c) => (c.cost === null ? "–" : dollarsText(c.cost)) },
    { title: "MWh", number: true, text: (c) => (c.energy_kwh === null ? "–" : numberText(c.energy_kwh / 1000)) }]),
  { title: "MFU", number: true, text: (c) => (c.plan ? shareText(c.plan.model_flops_utilization) : "–") },
  { title: "memory", number: true, text: (c) => (c.plan ? `${memoryText(c.plan.peak_bytes)}${c.plan.fit === "fits" ? "" : `, ${misfit(c.plan.fit, c.plan)}`}` : "–") },
  { title: "limited by", text: (c) => inWords(c.limited_by) },
  { title: "plan", text: (c) => (c.plan ? `${meshText(c.plan.mesh)}, ${c.plan.rules}${c.plan.moe_path === "none" ? "" : `, ${c.plan.moe_path}`}, remat ${c.plan.remat}` : c.reason) }];

function mapCard(answer, model) {
  const cells = answer.cells.filter((c) => c.model === model), offered = measuresOf(cells);
  if (!offered.length) return card(`${model}: no cell is possible`, dataTable(`All cells of ${model}`, reasonColumns, cells));
  const numbers = dataTable(`All cells of ${model}`, cellColumns(answer), cells);
  const stage = el("div", {}), name = `map ${model}`;
  const buttons = offered.map((measure) => el("button", { type: "button", onclick: () => choose(measure) }, measure.title));
  function choose(measure) {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(offered[i] === measure)));
    stage.replaceChildren(mapTable(answer, model, cells, measure));
  }
  choose(offered[0]);
  const late = cells.some((c) => isLate(answer, c)), no = cells.some((c) => !c.feasible);
  return card(`${model} by machine and chips`, el("div", { class: "buttons", role: "group", "aria-label": "What the map shows" }, buttons),
    figure(name, ["More colour is better", "★ is an answer above", late ? "struck through is too late" : "", no ? "“no” is impossible: its reason is in the numbers" : ""].filter(Boolean).join("; "), stage, numbers));
}

