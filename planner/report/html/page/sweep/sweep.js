// A grid of models, machines and sizes: what to take of each model first, then each model's map and how far its machines scale.
/** The cells to take of one model; of none where nothing is done in time. */
function answersOf(answer, model) {
  const choice = answer.answers.by_model[model];
  const unpriced = answer.cells.filter((c) => c.model === model && c.feasible && c.cost === null && !isLate(answer, c)).length;
  const notes = { cheapest: unpriced ? `of the cells with a price; ${countText(unpriced)} ${unpriced === 1 ? "has" : "have"} none` : "" };
  const tileTitles = { smallest: "Fewest chips", cheapest: "Cheapest", fastest: "Fastest" };
  const found = answerNames.filter(([key]) => choice[key]);
  const lacksPrices = answer.tokens !== null && found.length && !choice.cheapest;
  if (found.length) return [el("dl", { class: "tiles answers" }, found.map(([key]) => tile(tileTitles[key], cellText(choice[key]), [takes(choice[key]), misfit(choice[key].plan.fit, choice[key].plan), notes[key]].filter(Boolean).join(" · ")))),
    lacksPrices ? el("p", { class: "soft" }, `The cheapest is not known: no price is given of a machine that is ${answer.within_seconds === null || answer.within_seconds === undefined ? "possible" : "in time"} (--price ${choice.smallest.hardware}=DOLLARS, of a chip-hour).`) : null];
  const fastest = fastestCell(answer, model);
  return el("p", {}, el("span", { class: "badge bad" }, fastest ? "Not in time" : "Not possible"), fastest ? ` The fastest: ${cellText(fastest)}, ${takes(fastest)}` : " on any of these machines and sizes");
}

/** What explain has to be told too: of what was asked, and the compiler's flags of the plan, which is started with them
    whether they were given or assumed; explain of what is not given is another run. */
function repeatedFlags(request, plan) {
  const none = "compile_xla_flags" in request ? "none" : "", flags = plan.xla_flags.join(" ") || none;
  const told = { ...(flags ? { "--xla-flags": flags } : {}), ...request };
  return ["--xla-flags", "--memory-fraction", "--reserve-hbm"].filter((flag) => flag in told)
    .map((flag) => ` ${shellWord(`${flag}=${told[flag]}`)}`).join("");
}

/** What starts the cells to take; several answers may be one cell. */
function takenCard(answer, model) {
  const choice = answer.answers.by_model[model], cells = answerNames.filter(([key]) => choice[key]).map(([key]) => choice[key]);
  const taken = [...new Map(cells.map((c) => [c.place, c])).values()].map((cell) => ({ cell, names: namesOf(cell, choice) }));
  const machine = (cell) => shellWord(answer.machine_files[cell.hardware] || cell.hardware);
  const size = (cell) => `--chips ${cell.chips}${cell.slices > 1 ? ` --slices ${cell.slices}` : ""}`;
  const command = ({ cell: c }) => `shardplan explain --hardware ${machine(c)} ${size(c)}${repeatedFlags(answer.request, c.plan)} ${argumentWords(c.plan)}`;
  return taken.length ? card(`Commands of ${model}`, el("details", {}, el("summary", {}, "The settings of each cell to take, as MaxText has them"),
    taken.map((one) => commandBlock(`${one.cell.model}, ${one.names.join(", ")}: ${cellText(one.cell)}`, command(one))))) : null;
}

const foldedFrom = 4;

/** Of several models each folds; with many the page opens on what to take of each, and draws a model when its fold is opened. */
function modelSection(answer, model, looks, folds) {
  const content = () => [answersOf(answer, model), mapCard(answer, model), scalingCard(answer, model, looks), takenCard(answer, model)].flat();
  if (!folds.length) return content();
  const title = el("summary", {}, el("h2", { class: "machine" }, model), el("span", { class: "soft" }, possibleText(answer.cells.filter((c) => c.model === model))));
  return foldOf(folds.find((one) => one.model === model).id, title, content, folds.length < foldedFrom);
}

function sweepPage(answer) {
  const models = Object.keys(answer.answers.by_model), able = answer.cells.filter((c) => c.feasible).length, looks = machineLooks(answer);
  const part = answer.complete ? plural(answer.cells.length, "cell") : `${countText(answer.cells.length)} of the cells so far`;
  const folds = models.length > 1 ? models.map((model) => ({ model, id: freshId("model") })) : [];
  return [el("p", { class: "kicker" }, `shardplan sweep · ${part}${answer.shard.count > 1 ? ` of shard ${answer.shard.number}/${answer.shard.count}` : ""}, ${countText(able)} possible`),
    el("h1", {}, sweepTitle(answer, models)), folds.length ? overviewCard(answer, folds) : null,
    ...models.map((model) => modelSection(answer, model, looks, folds))].flat();
}
