// One run in full: verdict, figures, the command that starts it, charts, findings.
const verdict = (e) => (runsWhereItFits(e) ? fitMark(e.fit, e.memory) : el("span", { class: "badge bad" }, "Does not run"));

const tile = (name, value, small) => el("div", {}, el("dt", {}, name), el("dd", { class: "num" }, value, small ? el("small", {}, small) : null));

/** `more`: what only some answers know of a run, a tile each. */
function tiles(e, ...more) {
  const m = e.memory, t = e.time;
  const waits = t.exposed_collective_seconds + t.exposed_host_seconds + t.bubble_seconds;
  return el("dl", { class: "tiles" },
    tile("Tokens a second", tokensPerSecondText(e), `${tokensPerSecondAndChipText(e)} a chip`),
    tile("Step", timeText(wholeStep(t)), t.range ? `${timeText(t.range.low_seconds + t.all_token_routing_seconds)} to ${timeText(t.range.high_seconds + t.all_token_routing_seconds)}` : `${countText(e.global_batch_tokens)} tokens`),
    tile("MFU", shareText(withRouting(t.model_flops_utilization, t)), "model FLOPs of the peak"),
    tile("Peak memory", memoryText(m.peak_bytes), `of ${memoryText(m.capacity_bytes)} a device`),
    tile("Waiting", shareText(waits / wholeStep(t)), "of a step"), more);
}

const settingChips = (e) => el("ul", { class: "chips", "aria-label": "Settings" },
  [meshText(e.mesh), e.slices > 1 ? `in ${plural(e.slices, e.network ? placesOf(e.network) : "slice")}` : "", `${e.rules} rules`, e.moe_path !== "none" ? `${e.moe_path} experts` : "", `remat ${e.remat}`,
    `${e.per_device_batch_size} × ${countText(e.max_target_length)} tokens a device`].filter(Boolean).map((text) => el("li", {}, text)));

const commandNames = { train: "Start the run", train_compile: "Compile it ahead of time, without the chips", launch: "Start it on all hosts" };

function commandBlock(name, text) {
  return [el("div", { class: "row-head" }, el("h3", {}, name), el("div", {}, copyButton(text, name.toLowerCase()))),
    el("div", { class: "command" }, el("pre", { tabindex: "0", role: "group", "aria-label": `${name}: command` }, text))];
}

/** What a run needs and no plan knows. */
function toAddText(words) {
  const names = words.map((word) => (word === "data_set" ? "the data set" : word));
  return `Add ${names.length > 1 ? `${names.slice(0, -1).join(", ")} and ` : ""}${names.at(-1)}.`;
}

function commandCard(e) {
  const known = Object.entries(e.commands);
  if (!known.length) {
    const words = argumentWords(e);
    return words ? card("Settings", el("p", {}, `MaxText can't be launched on ${e.hardware}; the settings, as shardplan takes them:`), commandBlock("Settings", words)) : null;
  }
  const [[first, text], ...others] = known;
  return card("The command", e.to_add.length ? el("p", { class: "soft" }, toAddText(e.to_add)) : null, commandBlock(commandNames[first], text),
    others.length ? el("details", {}, el("summary", {}, "Other ways to start it"), others.map(([key, line]) => commandBlock(commandNames[key], line))) : null);
}

function infeasibleText(e) {
  const why = e.infeasible;
  if (!why) return null;
  return el("p", { class: "bad badge", style: "white-space:normal;border-radius:8px" }, `${why.constraint}: ${why.message}`);
}

/** XLA's flags: those that are given, and those that would shorten or lengthen the step. */
function flagsCard(e) {
  if (!e.flags || !e.flags.length) return null;
  const step = (f, key) => (f[key] === undefined ? "-" : timeText(f[key]));
  const worth = (f) => (f.step_seconds_with === undefined ? "-" : fasterText(f.step_seconds_without / f.step_seconds_with - 1));
  return card("Compiler flags", el("p", { class: "soft" }, "Worth: tokens a second with the flag against without it."),
    dataTable("XLA's flags and what they are worth", [
      { title: "flag", text: (f) => el("code", {}, f.flag) }, { title: "given", text: (f) => (f.assumed ? "assumed" : f.given ? "yes" : "no") },
      { title: "worth", number: true, text: worth }, { title: "step with it", number: true, text: (f) => step(f, "step_seconds_with") },
      { title: "without", number: true, text: (f) => step(f, "step_seconds_without") }, { title: "effect", text: (f) => f.effect },
      { title: "does", text: (f) => f.does }], e.flags));
}

/** What a model's file says that is left out, or read in a way that should be known. */
function modelNotesCard(e) {
  const notes = e.model_notes.map(({ field, reason }) => el("li", {}, el("code", {}, field), `: ${reason}`));
  return notes.length ? card("About the model", el("ul", { class: "reasons", "data-notes": "model" }, notes)) : null;
}

/** Charts of a run, most telling first. */
const runCards = (e) => [timeCard(e), timelineCard(e), pair([trafficCard(e), blameCard(e)], [memoryCard(e), fabricCard(e)]), flagsCard(e)].filter(Boolean);

/** Most of what a step loses, in one sentence. */
function lossText(e) {
  const { time } = e, step = wholeStep(time), routing = time.all_token_routing_seconds;
  if (routing > Math.max(0.1 * step, time.exposed_collective_seconds, time.bubble_seconds, time.exposed_host_seconds)) return `${shareText(routing / step)} of a step routes all tokens.`;
  const [lost, name] = [[time.exposed_collective_seconds, "collectives"], [time.bubble_seconds, "the pipeline's bubble"], [time.exposed_host_seconds, "copies to and from the host"]].sort((a, b) => b[0] - a[0])[0];
  if (lost < 0.1 * step) return `${shareText(time.compute_seconds / step)} of a step is compute.`;
  const worst = trafficGroups(e.collectives).sort((a, b) => b.exposed - a.exposed)[0];
  const share = worst && worst.exposed > lost / 2 ? "most of it" : "most of all";
  const most = name === "collectives" && worst ? `, ${share} for ${worst.label} (${timeText(worst.exposed)} of ${timeText(step)})` : "";
  return `${shareText(lost / step)} of a step waits for ${name}${most}.`;
}

/** What makes a run fit: the fastest such change, and the fastest on as many chips. */
function fittingText(e, whatIfs) {
  const able = whatIfs.filter((row) => row.fit === "fits").sort((a, b) => changedRate(b) - changedRate(a));
  const here = able.find((row) => row.chips <= e.chips), said = (row) => [el("b", {}, row.change), ` (${numberText(changedRate(row))} tokens a second)`];
  const verb = misfit(e.fit, e.memory);
  const goal = e.memory.reserved_bytes > 0 ? "surely leave as much free as asked" : "surely fit";
  if (!able.length) return `It ${verb}; no single change makes it ${goal}.`;
  return [`It ${verb}. Of single changes that ${goal}, the fastest is `, said(able[0]), here && here !== able[0] ? [", on no more chips ", said(here)] : null, "."];
}

/** What to know first. */
function lead(e, whatIfs) {
  if (e.fit !== "fits" && whatIfs) return el("p", { class: "lead" }, fittingText(e, whatIfs));
  return el("p", { class: "lead" }, lossText(e), worthText(whatIfs, e));
}

const isGrave = (finding) => finding.severity !== "note";

/** What is wrong stands above the charts, notes below them; where nothing fits, what would comes first. */
function explainPage(e) {
  const grave = e.findings.some(isGrave), first = [timeCard(e), whatIfCard(e.what_if, e)];
  return [el("p", { class: "kicker" }, "shardplan explain"),
    el("div", { class: "head" }, el("h1", {}, `${e.model} on ${plural(e.chips, "chip")} of ${e.hardware}`), verdict(e)),
    infeasibleText(e), settingChips(e), e.fit === "fits" ? [tiles(e), lead(e, e.what_if)] : [lead(e, e.what_if), tiles(e)], grave ? findingsCard(e.findings) : null, ...(e.fit === "fits" ? first : first.reverse()), ...runCards(e).slice(1),
    grave ? null : findingsCard(e.findings), commandCard(e), modelNotesCard(e)].flat();
}
