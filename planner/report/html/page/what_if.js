// What changing one thing of the run is worth: more or fewer tokens a second, and whether it still fits.
const whatIfTitles = [["remat", "Keep more or less for the backward pass"], ["batch", "Another batch"], ["sequence", "Other sequences"], ["axes", "Another mesh"],
  ["chips", "More or fewer chips"], ["state", "Smaller state"], ["flag", "Compiler flags"], ["blocks", "Attention kernels"]];
const fasterText = (faster) => (Math.abs(faster) < 0.0005 ? "±0%" : faster >= 1 ? `${numberText(1 + faster)}×` : `${faster > 0 ? "+" : "−"}${shareText(Math.abs(faster))}`);

/** Of the whole job, with the routing of all tokens, as `faster` is told. */
const changedRate = (row) => withRouting(row.tokens_per_second, row);

/** To the right of the middle what is faster, `most` at the edge; hatched what doesn't surely fit. */
function changeBar(row, most) {
  const drawn = [{ ...row, colour: row.faster < 0 ? "amber" : "green", hatched: row.fit !== "fits", to: Math.max(-most, Math.min(row.faster, most)) }], from = { x1: 0, x2: "to" };
  return responsive((width) => tagged(plot({ width, height: 10, x: { domain: [-most, most], axis: null }, marks: [
    Plot.frame({ fill: "var(--track)", stroke: "none" }), Plot.barX(drawn, { ...from, fill: colourOf, className: "parts" }), hatching(drawn, from), Plot.ruleX([0], { stroke: "var(--text)" })] }),
  "parts", drawn, () => ({ "data-series": row.change, "data-value": row.faster })));
}

function changeRow(row, run, most) {
  const memory = `${memoryText(row.peak_bytes)} of ${memoryText(row.capacity_bytes)}`, chip = row.chips === run.chips ? "" : `${numberText(changedRate(row) / row.chips)} tokens/s a chip`;
  const said = [`${fasterText(row.faster)} tokens a second: ${numberText(changedRate(row))}`, chip, `${timeText(wholeStep(row))} a step of ${countText(row.global_batch_tokens)} tokens`, memory, misfit(row.fit, row)].filter(Boolean);
  return el("div", { class: "change-row", tabindex: "0", role: "img", "aria-label": `${row.change}: ${said.join(", ")}`, "data-tip": `${row.change}\n${said.join("\n")}`, "data-row": row.kind },
    el("div", { class: "label" }, el("b", {}, row.change), el("span", { class: "num soft" }, `${fasterText(row.faster)} · ${memoryText(row.peak_bytes)}`, row.fit === "fits" ? null : el("em", {}, ` · ${misfit(row.fit, row)}`))),
    changeBar(row, most));
}

function whatIfTable(rows, run) {
  const now = run.maxtext_arguments;
  const changed = (row) => [...Object.entries(row.maxtext_arguments).filter(([key, value]) => now[key] !== value).map(([key, value]) => `${key}=${value}`),
    ...Object.keys(now).filter((key) => !(key in row.maxtext_arguments)).map((key) => `without ${key}`),
    ...(row.kind === "flag" ? [row.change] : [])].join(" ");
  return dataTable("What changing one thing is worth", [
    { title: "change", text: (r) => r.change }, { title: "tokens/s", number: true, text: (r) => numberText(changedRate(r)) },
    { title: "more", number: true, text: (r) => fasterText(r.faster) }, { title: "a chip", number: true, text: (r) => numberText(changedRate(r) / r.chips) },
    { title: "step", number: true, text: (r) => timeText(wholeStep(r)) }, { title: "tokens a step", number: true, text: (r) => countText(r.global_batch_tokens) },
    { title: "peak", number: true, text: (r) => memoryText(r.peak_bytes) }, { title: "fits", text: (r) => misfit(r.fit, r) || "yes" },
    { title: "arguments that change", text: (r) => el("code", {}, changed(r)) }], rows);
}

function whatIfCard(rows, run) {
  if (!rows || (!rows.length && !run.infeasible)) return null;
  if (!rows.length) return card("What if", el("p", { class: "soft" }, "No single change of policy, batch, sequence, mesh, size, states or flags makes a run of it."));
  const most = Math.min(1, Math.max(...rows.map((row) => Math.abs(row.faster))));
  const groups = whatIfTitles.map(([kind, title]) => [title, rows.filter((row) => row.kind === kind)]).filter(([, group]) => group.length);
  return card("What if", figure("what-if", `One thing changed, everything else as it is: tokens a second against this run's ${numberText(tokensPerSecond(run))}, from −${shareText(most)} at the left to +${shareText(most)} at the right, and memory at the peak. Each is costed, none is searched for`,
    el("div", { class: "what-if" }, groups.map(([title, group]) => el("section", {}, el("h3", {}, title), group.map((row) => changeRow(row, run, most || 1))))),
    whatIfTable(rows, run)));
}

/** Of changes to the same task on no more chips, with numbers as wide: the one that is worth most and surely fits. */
function bestChange(rows, run, isAllowed = () => true) {
  const able = (rows || []).filter((row) => row.fit === "fits" && row.chips <= run.chips && row.kind !== "state" && row.kind !== "sequence" && row.faster > 0.01 && isAllowed(row));
  return able.sort((a, b) => b.faster - a.faster)[0];
}

const worth = (row, note) => [" ", el("b", {}, row.change), ` (${fasterText(row.faster)} tokens a second${note})`];

/** What is worth most, and where that trains on other steps, what is worth most without it. */
function worthText(rows, run) {
  const trainsTheSame = (row) => row.global_batch_tokens === run.global_batch_tokens;
  const best = bestChange(rows, run), same = bestChange(rows, run, trainsTheSame);
  if (!best) return null;
  if (best === same) return [" Of single changes worth most:", worth(best, ""), "."];
  return [" Of single changes worth most:", worth(best, `, in steps of ${countText(best.global_batch_tokens)} tokens`), same ? [", or with the same tokens a step", worth(same, "")] : null, "."];
}
