// The step time of a compiled program from its own schedule (audit --timeline).
function programRows(answer) {
  const t = answer.timeline, { compute } = t, seconds = (v) => `${timeText(v)} (${shareText(v / t.step_seconds)})`;
  const program = { label: "the program", note: `${timeText(t.step_seconds)} a step`, segments: [
    part("matrix products", compute.product_seconds, seconds, "blue"), part("experts' products", compute.grouped_product_seconds, seconds, "teal"),
    part("attention", compute.attention_seconds, seconds, "violet"), part("other kernels", compute.vector_seconds, seconds, "green"),
    part("slowed by collectives", compute.contention_seconds, seconds, "blue", true),
    part("waits for collectives", t.exposed_collective_seconds, seconds, "red"), part("waits for copies", t.exposed_copy_seconds, seconds, "pink")] };
  if (t.expected_step_seconds === null) return [program];
  return [program, { label: answer.against, note: `${timeText(t.expected_step_seconds)}: the program takes ${numberText(t.step_seconds / t.expected_step_seconds)} times as long`,
    segments: [part("step", t.expected_step_seconds, timeText, "slate", true)] }];
}

function loopsTable(t) {
  return dataTable("Loops of the program", [
    { title: "loop", text: (l) => `${"· ".repeat(l.depth)}${l.loop}` }, { title: "runs", number: true, text: (l) => countText(l.runs) },
    { title: "a run", number: true, text: (l) => timeText(l.seconds / l.runs) }, { title: "compute", number: true, text: (l) => timeText(l.compute_seconds) },
    { title: "waits", number: true, text: (l) => timeText(l.exposed_collective_seconds) }, { title: "in all", number: true, text: (l) => timeText(l.seconds) }], t.loops);
}

/** What the step's time is not sure of; the text answer says the same (planner/report/words/audit_words.cpp). */
function programNotes(t) {
  const notes = t.unknown_kernels.map((k) => `${k.kernel} is in no table of kernels: ${timeText(k.seconds)} for what it reads and writes`);
  if (t.uncounted_loops.length) notes.push(`Counted once, for nothing says how often they run: ${t.uncounted_loops.join(", ")}`);
  return notes.length ? el("ul", { class: "reasons plain-list" }, notes.map((note) => el("li", {}, note))) : null;
}

function programCard(answer) {
  const t = answer.timeline;
  if (!t) return null;
  const rows = programRows(answer), { low_seconds: low, high_seconds: high } = t.range;
  const range = low < high ? `. ${timeText(low)} if all that could hide did, ${timeText(high)} if nothing did: the text leaves open what its collectives run beside` : "";
  return wide(card("How long the program takes", figure("program", `As it is scheduled: ${shareText(t.compute_seconds / t.step_seconds)} compute${range}`,
    [stackedBars(rows, inSeconds, { tall: true }), programNotes(t)], [barTable("Time of a step of the program by part", rows, "time"), t.loops.length ? loopsTable(t) : null])));
}

/** The operations of combined collectives are one long name. */
const shortName = (operation) => (operation.length > 48 ? `${operation.slice(0, 45)}…` : operation);

function windowsCard(answer) {
  const t = answer.timeline, shown = t ? t.collectives.filter((c) => c.exposed_seconds > 0).slice(0, 7) : [];
  if (!shown.length) return null;
  const rows = shown.map((c) => ({ label: [c.instruction, shortName(c.op)].filter(Boolean).join(": "), note: `${c.kind} over ${c.axes.join("+")}${c.loop ? ` in ${c.loop}` : ""} · ${timeText(c.exposed_seconds)}`,
    segments: [part("waited for", c.exposed_seconds, timeText, "red"), part("hidden", Math.max(0, c.seconds - c.exposed_seconds), timeText, "slate", true)] }));
  return wide(card("What the program waits for", figure("windows", "The collectives with most time that nothing hides", stackedBars(rows, inSeconds),
    dataTable("Collectives of the program by exposed time", [
      { title: "instruction", text: (c) => c.instruction }, { title: "operation", text: (c) => c.op }, { title: "kind", text: (c) => c.kind },
      { title: "axes", text: (c) => c.axes.join("+") }, { title: "times", number: true, text: (c) => countText(c.executions) },
      { title: "takes", number: true, text: (c) => timeText(c.seconds) }, { title: "window", number: true, text: (c) => (c.asynchronous ? timeText(c.window_seconds) : "–") },
      { title: "exposed", number: true, text: (c) => timeText(c.exposed_seconds) }], t.collectives))));
}
