// A plan: the machines, and of the one that is chosen its best run, what it was chosen over and why.

/** Whoever says a price wants to see what it makes. */
const isPriced = (r) => r.dollars_per_million_tokens !== undefined;
const showsCost = (answer) => answer.objective === "cost" || answer.results.some(isPriced);
const priceText = (r) => (isPriced(r) ? dollarsOfMillionText(r.dollars_per_million_tokens) : "–");
const costText = (r) => (isPriced(r) ? `$${priceText(r)} a million tokens` : "");
const costTile = (r) => (isPriced(r) ? tile("Cost", `$${priceText(r)}`, "a million tokens") : null);

function machinesFigure(answer) {
  const able = answer.results.filter((r) => r.recommended), unable = answer.results.filter((r) => !r.recommended);
  const rows = able.map(({ recommended: e, ...r }) => ({
    label: e.hardware, note: [`${tokensPerSecondText(e)} tokens/s`, costText(r), misfit(e.fit, e.memory)].filter(Boolean).join(", "),
    segments: [{ label: "tokens/s", value: tokensPerSecond(e), text: `${tokensPerSecondText(e)} with ${meshText(e.mesh)}, ${e.rules}`, colour: "blue" }],
  }));
  const drawing = el("div", {}, rows.length ? stackedBars(rows, inTokens, { key: false }) : null, unable.map((r) =>
    el("p", {}, el("b", {}, r.hardware), " ", outlook(r), ` ${shortfall(r)}`)));
  return figure("machines", null, drawing, able.length ? dataTable("Machines on which something fits, best first", [
    { title: "machine", text: (r) => r.hardware }, { title: "verdict", text: (r) => verdict(r.recommended) },
    ...(showsCost(answer) ? [{ title: "$/M tokens", number: true, text: priceText }] : []),
    { title: "tokens/s", number: true, text: (r) => tokensPerSecondText(r.recommended) },
    { title: "a chip", number: true, text: (r) => tokensPerSecondAndChipText(r.recommended) },
    { title: "step", number: true, text: (r) => timeText(wholeStep(r.recommended.time)) },
    { title: "MFU", number: true, text: (r) => shareText(withRouting(r.recommended.time.model_flops_utilization, r.recommended.time)) },
    { title: "memory", number: true, text: (r) => `${memoryText(r.recommended.memory.peak_bytes)} of ${memoryText(r.recommended.memory.capacity_bytes)}` },
    { title: "mesh", text: (r) => meshText(r.recommended.mesh) }, { title: "rules", text: (r) => r.recommended.rules }], able) : null);
}

const pointRate = (p) => withRouting(p.tokens_per_second_per_device, p);
const pointText = (p) => `${meshText(p.mesh)}, ${p.rules}, ${p.moe_path === "none" ? "" : `${p.moe_path}, `}${p.remat}, ${p.per_device_batch_size} a device`;

/** Time against memory: no other run is both faster and smaller than one of these. */
function drawFront(result, devices, width) {
  const points = result.pareto.map((p) => ({ ...p, memory: p.peak_bytes / 2 ** 30, rate: pointRate(p) * devices })).sort((a, b) => a.memory - b.memory);
  const at = { x: "memory", y: "rate" }, text = (p) => `${numberText(p.rate)} tokens/s, ${memoryText(p.peak_bytes)}\n${pointText(p)}`;
  const svg = plot({ width, height: Math.min(300, Math.max(210, width * 0.45)), marginLeft: 62, marginRight: 14, marginTop: 22, marginBottom: 38, insetLeft: 10, insetRight: 10, insetTop: 6, insetBottom: 6,
    x: { label: "peak memory, GiB a device", labelAnchor: "center", labelArrow: "none", ticks: width / 90 }, y: { label: "tokens/s", labelArrow: "none", ticks: 5, tickFormat: tickText(numberText), grid: true }, marks: [
      Plot.line(points, { ...at, stroke: "var(--blue)", strokeWidth: 1.5, strokeOpacity: 0.5 }),
      Plot.dot(points, { ...at, r: 5.5, fill: "var(--blue)", stroke: "var(--card)", strokeWidth: 1.5, className: "points" })] },
  `${points.length} runs, tokens a second against peak memory`);
  return tagged(svg, "points", points, (p) => ({ tabindex: "0", role: "img", "data-series": "front", "data-value": p.peak_bytes, "aria-label": text(p).replaceAll("\n", ": "), "data-tip": text(p) }));
}

const pointTable = (caption, rows, first) => dataTable(caption, [...first,
  { title: "tokens/s a device", number: true, text: (p) => numberText(pointRate(p)) },
  { title: "step", number: true, text: (p) => timeText(wholeStep(p)) },
  { title: "peak", number: true, text: (p) => memoryText(p.peak_bytes) },
  { title: "rules", text: (p) => p.rules }, { title: "MoE", text: (p) => (p.moe_path === "none" ? "-" : p.moe_path) },
  { title: "remat", text: (p) => p.remat }, { title: "batch a device", number: true, text: (p) => String(p.per_device_batch_size) }], rows);

const meshColumn = { title: "mesh", text: (p) => meshText(p.mesh) };

function frontCard(result) {
  if (result.pareto.length < 2) return null;
  return card("Speed against memory", figure("front", "Runs that no other beats in both; the memory saved is what slower ones are for",
    responsive((width) => drawFront(result, result.recommended.devices, width)), pointTable("Runs on the front of speed and memory", result.pareto, [meshColumn])));
}

/** Against the plan, which is not the fastest where something else than that is asked for. */
function strategyNote(s, objective) {
  if (s.slower >= 0.0005) return `${slowerText(s.slower)} slower · ${s.why}`;
  return objective === "memory" ? slowerWords(s.slower) : "the fastest";
}

function strategiesCard(result, objective) {
  if (result.strategies.length < 2) return null;
  const colours = ["blue", "violet", "teal", "amber", "green"];
  const rows = result.strategies.map((s, i) => ({
    label: s.strategy, note: strategyNote(s, objective),
    segments: [{ label: "tokens/s a device", value: pointRate(s), text: `${numberText(pointRate(s))} tokens/s a device with ${meshText(s.mesh)}`, colour: colours[i % colours.length] }],
  }));
  const which = objective === "memory" ? "The leanest of the nearly fastest runs" : `The ${bestOf[objective]} run`;
  return card("Best of each kind of parallelism", figure("strategies", `${which} that fits with each`,
    stackedBars(rows, inTokens, { key: false }), pointTable("The best run of each kind of parallelism", result.strategies, [{ title: "with", text: (s) => s.strategy }, meshColumn])));
}

function alternativesCard(result) {
  const others = [...result.alternatives, ...(result.marginal ? [result.marginal] : [])];
  if (!others.length) return null;
  const all = [result.recommended, ...others];
  const name = (e) => `${meshText(e.mesh)} · ${e.rules}${e.moe_path === "none" ? "" : ` · ${e.moe_path}`}`;
  const batch = (e) => (all.filter((other) => name(other) === name(e)).length > 1 ? ` · ${amount(e.per_device_batch_size, "sequence")} a device` : "");
  const rows = all.map((e) => ({ label: name(e) + batch(e),
    note: `${tokensPerSecondText(e)} tokens/s · ${memoryText(e.memory.peak_bytes)}${e.fit === "fits" ? "" : ` · ${misfit(e.fit, e.memory)}`}`,
    segments: timeRows(e)[0].segments.map((s) => ({ ...s, value: s.value / e.global_batch_tokens })) }));
  return card("The best and the next best", figure("alternatives", "Time of a token by part; the recommended plan first", stackedBars(rows, inSeconds),
    dataTable("The best and the next best", [
      { title: "mesh", text: (e) => meshText(e.mesh) }, { title: "rules", text: (e) => e.rules }, { title: "verdict", text: (e) => verdict(e) },
      { title: "tokens/s", number: true, text: (e) => tokensPerSecondText(e) },
      { title: "step", number: true, text: (e) => timeText(wholeStep(e.time)) },
      { title: "peak", number: true, text: (e) => memoryText(e.memory.peak_bytes) }, { title: "remat", text: (e) => e.remat },
      { title: "batch a device", number: true, text: (e) => String(e.per_device_batch_size) }], all)));
}

const changeOfTraining = (result) => (result.change_of_training ? el("p", { class: "lead" }, el("span", { class: "badge warn" }, "note"), ` ${result.change_of_training}`) : null);

const reasonsCard = (result) => (result.reasons.length
  ? card("Why this one", el("ul", { class: "reasons" }, result.reasons.map((reason) => el("li", {}, reason)))) : null);

const wouldFitTable = (result) => dataTable("What would fit, each change by itself", [
  { title: "change", text: (w) => w.change }, { title: "tokens/s", number: true, text: (w) => tokensPerSecondText(w.evaluation) },
  { title: "a chip", number: true, text: (w) => tokensPerSecondAndChipText(w.evaluation) }, { title: "step", number: true, text: (w) => timeText(wholeStep(w.evaluation.time)) },
  { title: "peak", number: true, text: (w) => `${memoryText(w.evaluation.memory.peak_bytes)} of ${memoryText(w.evaluation.memory.capacity_bytes)}` },
  { title: "mesh", text: (w) => meshText(w.evaluation.mesh) }, { title: "remat", text: (w) => w.evaluation.remat }], result.would_fit.filter((w) => w.evaluation));

function unfit(result) {
  return card(`${result.hardware}: ${nothingVerdict([result])}`, el("p", {}, shortfall(result)),
    result.would_fit.length ? [el("h3", {}, "What would fit"), wouldFitTable(result)] : null,
    result.rejections.length ? el("details", {}, el("summary", {}, "Why configurations were dropped"), dataTable("Why configurations were dropped", [{ title: "constraint", text: (r) => r.constraint },
      { title: "configurations", number: true, text: (r) => countText(r.candidates) }, { title: "for example", text: (r) => r.example }], result.rejections)) : null);
}

/** Of what would fit, the fastest. */
function wouldFitLead(result) {
  const best = result.would_fit.filter((w) => w.evaluation).sort((a, b) => tokensPerSecond(b.evaluation) - tokensPerSecond(a.evaluation))[0];
  return best ? el("p", { class: "lead" }, `On ${result.hardware} it would fit with `, el("b", {}, best.change), `: ${tokensPerSecondText(best.evaluation)} tokens a second.`) : null;
}

/** Without its head where that stands at the top of the page already. */
function machineReport(result, objective, withHead) {
  const e = result.recommended;
  if (!e) return unfit(result);
  return el("div", {}, withHead ? [el("h2", { class: "machine" }, `${result.hardware}: ${meshText(e.mesh)}`), settingChips(e), tiles(e, costTile(result)), lead(e, result.what_if), changeOfTraining(result)] : null,
    commandCard(e), modelNotesCard(e), pair([reasonsCard(result), alternativesCard(result)], [strategiesCard(result, objective), frontCard(result)]), whatIfCard(result.what_if, e),
    el("h2", { class: "machine" }, "The run in detail"), runCards(e), findingsCard(e.findings));
}

function planPage(answer) {
  const best = answer.results.find((r) => r.recommended), several = answer.results.length > 1;
  const title = best ? `Train ${answer.model} on ${plural(answer.chips, "chip")} of ${best.hardware} with ${meshText(best.recommended.mesh)}`
    : `${answer.model} on ${plural(answer.chips, "chip")}: ${nothingVerdict(answer.results)}`;
  const stage = el("div", {});
  const buttons = answer.results.map((r) => el("button", { type: "button", onclick: () => choose(r) }, r.hardware));
  function choose(result) {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(answer.results[i] === result)));
    stage.replaceChildren(machineReport(result, answer.objective, result !== best));
  }
  choose(best || answer.results[0]);
  const counted = best ? ` · of ${plural(best.evaluated, "configuration")}, ${countText(best.fitting)} fit` : "";
  const hopeful = answer.results.find((r) => r.unfinished) || answer.results.find(mayFit) || answer.results[0];
  const machines = card(`Machines, ${orders[answer.objective]}`, machinesFigure(answer),
    el("div", { class: "buttons", role: "group", "aria-label": "Machine to show in detail" }, el("span", { class: "soft" }, "Show"), buttons));
  return [el("p", { class: "kicker" }, `shardplan plan${best ? ` · ${orders[answer.objective]}` : ""}${counted}`),
    el("div", { class: "head" }, el("h1", {}, title), best ? verdict(best.recommended) : outlook(hopeful)), unfinishedNotes(answer.results),
    best ? [settingChips(best.recommended), tiles(best.recommended, costTile(best)), lead(best.recommended, best.what_if), changeOfTraining(best)] : answer.results.map(wouldFitLead), several ? machines : null, stage].flat();
}
