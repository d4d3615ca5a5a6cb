// One evaluation: its time and bytes.
const phaseColours = { forward: "blue", rematerialized_forward: "teal", backward: "violet", optimizer: "amber" };
const phaseNames = { forward: "forward", rematerialized_forward: "recomputed forward", backward: "backward", optimizer: "optimizer" };

const part = (label, value, text, colour, hatched) => ({ label, value, text: text(value), colour, hatched });

function timeRows(e) {
  const { time } = e, { compute } = time, seconds = (v) => `${timeText(v)} (${shareText(v / wholeStep(time))})`;
  const device = [
    part("matrix products", compute.matmul_seconds, seconds, "blue"),
    part("experts' products", compute.grouped_matmul_seconds, seconds, "teal"),
    part("attention", compute.attention_seconds, seconds, "violet"),
    part("vector work", compute.vector_seconds, seconds, "green"),
    part("experts' bias gradients", compute.bias_gradient_seconds, seconds, "amber"),
    part("update", compute.optimizer_seconds, seconds, "slate"),
    part("slowed by collectives", compute.contention_seconds, seconds, "blue", true),
    part("waits for collectives", time.exposed_collective_seconds, seconds, "red"),
    part("waits for the host", time.exposed_host_seconds, seconds, "pink"),
    part("pipeline bubble", time.bubble_seconds, seconds, "amber"),
    part("routing of all tokens", time.all_token_routing_seconds, seconds, "green", true),
  ];
  const links = [
    part("waits for collectives", time.exposed_collective_seconds, seconds, "red"),
    part("hidden behind compute", time.hidden_collective_seconds, seconds, "slate", true),
  ];
  return [
    { label: "device", note: `${timeText(wholeStep(time))} a step`, segments: device },
    { label: "collectives", note: timeText(time.exposed_collective_seconds + time.hidden_collective_seconds), segments: links },
  ];
}

function timeCard(e) {
  const rows = timeRows(e), { time } = e, { range } = time, whole = (seconds) => timeText(seconds + time.all_token_routing_seconds);
  const assumed = range && range.steps.length ? el("details", {}, el("summary", {}, `${whole(range.low_seconds)} to ${whole(range.high_seconds)}, by what is assumed`),
    dataTable("What is assumed, and the step at either end of it", [{ title: "assumption", text: (s) => s.words },
      { title: "low", number: true, text: (s) => whole(s.low_seconds) }, { title: "high", number: true, text: (s) => whole(s.high_seconds) }],
    range.steps.map((s, i) => ({ ...s, words: range.assumptions[i] })))) : null;
  const waiting = time.exposed_collective_seconds + time.exposed_host_seconds + time.bubble_seconds;
  return card("Where a step's time goes",
    figure("time", `${shareText(time.compute_seconds / wholeStep(time))} compute, ${shareText(waiting / wholeStep(time))} waiting`,
      stackedBars(rows, inSeconds, { tall: true, whole: Math.max(wholeStep(time), sum(rows[1].segments.map((s) => s.value))) }),
      barTable("Time of a step by part", rows, "time")), assumed);
}

/** Collectives summed by kind and axes, most bytes first. */
function trafficGroups(collectives) {
  const groups = new Map();
  for (const c of collectives) {
    const label = `${c.kind} over ${c.axes.join("+") || "no axis"}`;
    const group = groups.get(label) || { label, kind: c.kind, axes: c.axes, bytes: 0, seconds: 0, exposed: 0, times: 0, phases: {} };
    const bytes = c.bytes * c.executions;
    group.bytes += bytes;
    group.seconds += c.seconds;
    group.exposed += c.exposed_seconds || 0;
    group.times += c.executions;
    group.phases[c.phase] = (group.phases[c.phase] || 0) + bytes;
    groups.set(label, group);
  }
  return [...groups.values()].sort((a, b) => b.bytes - a.bytes);
}

const trafficColumns = [
  { title: "kind", text: (g) => g.kind }, { title: "axes", text: (g) => g.axes.join("+") },
  { title: "times", number: true, text: (g) => countText(g.times) },
  ...Object.keys(phaseNames).map((phase) => ({ title: phaseNames[phase], number: true, text: (g) => trafficText(g.phases[phase] || 0) })),
  { title: "bytes", number: true, text: (g) => trafficText(g.bytes) },
  { title: "time", number: true, text: (g) => timeText(g.seconds) },
  { title: "exposed", number: true, text: (g) => timeText(g.exposed) },
];

function trafficCard(e) {
  const groups = trafficGroups(e.collectives);
  if (!groups.length) return card("What a device sends and receives", el("p", {}, "Nothing: every device has all that it needs."));
  const rows = groups.map((g) => ({
    label: g.label, note: `${trafficText(g.bytes)} · ${timeText(g.exposed)} exposed`,
    segments: Object.keys(phaseNames).map((phase) => part(phaseNames[phase], g.phases[phase] || 0, trafficText, phaseColours[phase])),
  }));
  return card("What a device sends and receives",
    figure("traffic", `${trafficText(sum(groups.map((g) => g.bytes)))} a step and device, by kind, mesh axes and phase`,
      stackedBars(rows, inBytes), dataTable("Collectives of a step by kind and axes", trafficColumns, groups)));
}

/** Those that the device waits for most, with why they exist. */
function blameCard(e) {
  const places = new Map();
  for (const c of e.collectives) {
    const key = `${c.op} ${c.kind} ${c.axes.join("+")}`;
    const place = places.get(key) || { op: c.op, kind: c.kind, axes: c.axes, why: c.why, exposed: 0, hidden: 0, bytes: 0 };
    place.exposed += c.exposed_seconds;
    place.hidden += Math.max(0, c.seconds - c.exposed_seconds);
    place.bytes += c.bytes * c.executions;
    places.set(key, place);
  }
  const worst = [...places.values()].sort((a, b) => b.exposed - a.exposed);
  const shown = worst.filter((p) => p.exposed > 0).slice(0, 7);
  if (!shown.length) return null;
  const rows = shown.map((p) => ({
    label: `${p.op}`, note: `${p.kind} over ${p.axes.join("+")} · ${timeText(p.exposed)}`,
    segments: [part("waited for", p.exposed, timeText, "red"), part("hidden", p.hidden, timeText, "slate", true)],
  }));
  return card("What the device waits for",
    figure("blame", "The collectives with most time that nothing hides", stackedBars(rows, inSeconds),
      dataTable("Collectives by exposed time, with why they exist", [
        { title: "operation", text: (p) => p.op }, { title: "kind", text: (p) => p.kind },
        { title: "axes", text: (p) => p.axes.join("+") }, { title: "exposed", number: true, text: (p) => timeText(p.exposed) },
        { title: "hidden", number: true, text: (p) => timeText(p.hidden) },
        { title: "bytes", number: true, text: (p) => trafficText(p.bytes) }, { title: "why", text: (p) => p.why }], worst)));
}
