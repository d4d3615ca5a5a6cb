// What each changed line of the rules is worth alone, on the best run of the first set.
const ruleLine = (change, one) => `${one.line ? `line ${one.line}: ` : ""}${change.logical ? `'${change.logical}' → ` : ""}[${one.axes.join(", ")}]`;

/** What a change alone is worth on the first set's run; null where that is nothing. */
function aloneText(change, base) {
  const { alone } = change;
  if (!alone) return "no place on this mesh";
  if (!runsWhereItFits(alone)) return unfitText(alone);
  if (!base) return `${timeText(wholeStep(alone))} a step`;
  const scaled = { ...alone, slower: wholeStep(alone) / wholeStep(base) - 1, global_batch_tokens: base.global_batch_tokens };
  const text = differenceText(scaled, base);
  return text === "as fast" ? null : text;
}

function ruleChange(change, text) {
  const lines = (side, kind, sign) => change[side].map((one) => el("code", { class: kind }, `${sign} ${ruleLine(change, one)}`));
  return el("div", { class: "change" }, el("b", {}, change.logical || change.part), lines("first", "old", "−"), lines("second", "new", "+"), el("div", {}, `alone: ${text}`));
}

function ruleChangesCard(answer) {
  const difference = answer.rule_changes;
  if (!difference) return null;
  const base = answer.rows.find((r) => r.rules === difference.first);
  const worth = (change) => (change.alone && base ? Math.abs(wholeStep(change.alone) / wholeStep(base) - 1) : 0);
  const changes = difference.changes.map((change) => ({ change, text: aloneText(change, base) }));
  const telling = changes.filter((c) => c.text).sort((a, b) => worth(b.change) - worth(a.change)), idle = changes.filter((c) => !c.text);
  return wide(card(`Rules that change from ${difference.first} to ${difference.second}`, changes.length ? null : el("p", {}, "None."),
    telling.map(({ change, text }) => ruleChange(change, text)),
    idle.length ? el("details", {}, el("summary", {}, `${idle.length} that change nothing alone${base ? ` on ${meshText(base.mesh)}` : ""}`), idle.map(({ change }) => ruleChange(change, "nothing"))) : null));
}
