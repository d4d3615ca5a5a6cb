// check and audit: findings first, then what moves.
const outcome = (answer, good, bad) => el("span", { class: `badge ${answer.verdict === "ok" ? "good" : "bad"}` }, answer.verdict === "ok" ? good : bad);
const nothingFound = (findings) => (findings.length ? null : card("Findings", el("p", {}, "None.")));

/** `whole`, in bytes, is the scale where two of these stand beside each other. */
function movesCard(title, name, collectives, whole) {
  if (!collectives.length) return null;
  const groups = trafficGroups(collectives);
  const rows = groups.map((g) => ({ label: g.label, note: trafficText(g.bytes),
    segments: Object.keys(phaseNames).map((phase) => part(phaseNames[phase], g.phases[phase] || 0, trafficText, phaseColours[phase])) }));
  return card(title, figure(name, "Bytes a device and step by kind, mesh axes and phase", stackedBars(rows, inBytes, { whole }), dataTable(title, trafficColumns, groups)));
}

const heaviest = (collectives) => Math.max(0, ...trafficGroups(collectives).map((g) => g.bytes));

function checkPage(answer) {
  const whole = Math.max(heaviest(answer.collectives), heaviest(answer.expected));
  const fixed = JSON.stringify(answer.expected) !== JSON.stringify(answer.collectives);
  return [el("p", { class: "kicker" }, "shardplan check"), el("div", { class: "head" }, el("h1", {}, `Rules ${answer.rules}`), outcome(answer, "Passes", "Fails")),
    el("p", { class: "soft" }, `${plural(answer.configurations, "configuration")} of ${answer.models.join(", ")} on ${answer.hardware}`),
    el("div", { class: "columns" }, wideOrNothing(findingsCard(answer.findings)) || wide(nothingFound(answer.findings)),
      movesCard("What a device sends and receives", "found", answer.collectives, whole), fixed ? movesCard("With the fixes", "expected", answer.expected, whole) : null)];
}

function changesCard(answer) {
  if (!answer.changes.length) return null;
  const rows = [...answer.changes].sort((a, b) => Math.abs(b.found.bytes - b.expected.bytes) - Math.abs(a.found.bytes - a.expected.bytes));
  const difference = (c) => c.found.bytes - c.expected.bytes;
  const tensors = (list) => list.map((one) => `${one.tensor} ${trafficText(one.bytes)}`).join(", ");
  return wide(card("Differences", dataTable("Traffic found against expected", [
    { title: "kind", text: (c) => (c.kind === "all-reduce" ? "reduction" : c.kind) }, { title: "axes", text: (c) => c.axes.join("+") }, { title: "phase", text: (c) => phaseNames[c.phase] },
    { title: "expected", number: true, text: (c) => trafficText(c.expected.bytes) }, { title: "found", number: true, text: (c) => trafficText(c.found.bytes) },
    { title: "difference", number: true, text: (c) => `${difference(c) > 0 ? "+" : "−"}${trafficText(Math.abs(difference(c)))}` },
    { title: "extra", text: (c) => tensors(c.extra) }, { title: "missing", text: (c) => tensors(c.missing) }], rows)));
}

/** Bytes and, where it is timed, seconds against what was expected. */
function auditLead(answer) {
  const bytes = (collectives) => sum(collectives.map((c) => c.bytes * c.executions)), t = answer.timeline;
  const moves = answer.expected.length ? `It moves ${trafficText(bytes(answer.collectives))} a step and device where ${trafficText(bytes(answer.expected))} are expected.` : `It moves ${trafficText(bytes(answer.collectives))} a step and device.`;
  const takes = t && t.expected_step_seconds !== null ? ` A step takes ${timeText(t.step_seconds)} where ${timeText(t.expected_step_seconds)} are expected.` : "";
  return el("p", { class: "lead" }, moves + takes);
}

function auditPage(answer) {
  const whole = Math.max(heaviest(answer.collectives), heaviest(answer.expected));
  return [el("p", { class: "kicker" }, "shardplan audit"), el("div", { class: "head" }, el("h1", {}, answer.program.split("/").at(-1)), outcome(answer, answer.against ? "No regression" : "No errors", answer.against ? "Regression" : "Errors")),
    auditLead(answer), el("p", { class: "soft" }, [answer.program, answer.against ? `against ${answer.against}` : "", `mesh ${meshText(answer.mesh)}`, answer.hardware ? `priced on ${answer.hardware}` : ""].filter(Boolean).join(" · ")),
    el("div", { class: "columns" }, wideOrNothing(findingsCard(answer.findings)), programCard(answer), windowsCard(answer), changesCard(answer), movesCard("Found in the program", "found", answer.collectives, whole),
      movesCard("Expected", "expected", answer.expected, whole))];
}
