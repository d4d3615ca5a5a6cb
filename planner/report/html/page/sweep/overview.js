// What a sweep says of all its models: the title, and a table of the cells to take with the way to each model's details.
function sweepTitle(answer, models) {
  const goal = goalText(answer), subject = models.length === 1 ? models[0] : plural(models.length, "model");
  const whole = goal ? `${subject}, ${goal}` : subject, done = models.filter((model) => answer.answers.by_model[model].fastest);
  if (models.length > 1) {
    const how = answer.within_seconds === null ? "can be trained" : "can be done in time";
    return `${whole}: ${done.length === models.length ? "all" : done.length ? `${done.length} of ${models.length}` : "none"} ${how}`;
  }
  const { smallest, fastest } = answer.answers.by_model[models[0]];
  if (!fastest) return `${whole}: ${fastestCell(answer, models[0]) ? "not in time" : "not possible"}`;
  if (answer.within_seconds === null) return `${whole}: fastest on ${cellText(fastest)}`;
  return `${whole}: ${cellText(smallest)} ${smallest.chips === 1 ? "is" : "are"} enough`;
}

const possibleText = (cells) => `${countText(cells.filter((c) => c.feasible).length)} of ${plural(cells.length, "cell")} possible`;

function overviewCard(answer, folds) {
  const rows = folds.map(({ model, id }) => ({ model, id, choice: answer.answers.by_model[model], cells: answer.cells.filter((c) => c.model === model) }));
  const lines = (first, second) => el("span", {}, first, el("br", {}), el("span", { class: "soft" }, second));
  const chosen = ([key, name], first) => ({ title: name, text: ({ model, choice }) => {
    if (choice[key]) return lines(cellText(choice[key]), takes(choice[key]));
    if (!first || choice.fastest) return "–";
    const fastest = fastestCell(answer, model);
    return fastest ? lines(el("span", { class: "badge bad" }, "not in time"), `at best ${takes(fastest)} on ${cellText(fastest)}`) : el("span", { class: "badge bad" }, "not possible");
  } });
  const named = answerNames.filter(([key]) => rows.some(({ choice }) => choice[key]));
  return card("What to take", dataTable("What to take of each model", [
    { title: "model", text: ({ model, id }) => el("a", { href: `#${id}` }, model) }, ...(named.length ? named : [["fastest", "fastest"]]).map((one, i) => chosen(one, i === 0)),
    { title: "possible", number: true, text: ({ cells }) => `${countText(cells.filter((c) => c.feasible).length)} of ${countText(cells.length)}` }], rows),
  el("div", { class: "buttons" }, el("button", { type: "button", onclick: () => setFolds(true) }, "Unfold all models"), el("button", { type: "button", onclick: () => setFolds(false) }, "Fold all")));
}
