// The step's loops, and of each one run: what the device computes, what is on the network meanwhile, what it waits for.
const partColours = { forward: "blue", rematerialized_forward: "teal", gradient: "violet", right_gradient: "pink", stacks: "green", update: "amber" };
const partNames = { forward: "forward", rematerialized_forward: "forward again", gradient: "gradients", right_gradient: "weights' gradients", stacks: "stacks of the loop", update: "update" };
const hostColour = "brown";
const least = 0.005; // of the step, that a loop takes to be drawn

const spanLength = (span) => span.end_seconds - span.begin_seconds;
const lengthOf = (spans) => sum(spans.map(spanLength));
const collectiveTitle = (e, span) => {
  const members = span.collectives.map((i) => e.collectives[i]);
  return { head: `${members[0].kind} over ${members[0].axes.join("+") || "no axis"}`, ops: members.map((c) => c.op).join(", "), why: members[0].why };
};

/** What each lane of a run has, waits on top: {lane, begin_seconds, end_seconds, colour, hatched, tip}. */
function spansOf(e, body) {
  const titled = (span, tip) => { const { head, ops, why } = collectiveTitle(e, span); return tip(head, ops, why); };
  const kernels = body.kernels.map((k) => ({ ...k, lane: "compute", colour: partColours[k.part], tip: `${k.name}\n${timeText(spanLength(k))}` }));
  const moves = body.moves.map((m) => ({ ...m, lane: "network", colour: "slate", tip: titled(m, (head, ops) => `${head}\n${ops}\n${timeText(spanLength(m))} on the network`) }));
  const waits = (lane) => body.waits.map((w) => ({ ...w, lane, colour: "red", hatched: true, tip: titled(w, (head, ops, why) => `waits ${timeText(spanLength(w))} for ${head}\n${ops}\n${why}`) }));
  const copies = body.host_seconds > 0 ? [{ lane: "host", begin_seconds: 0, end_seconds: Math.min(body.host_seconds, body.run_seconds), colour: hostColour, tip: `copies to and from the host\n${timeText(body.host_seconds)}` }] : [];
  const copiesWait = body.exposed_host_seconds > 0 ? [{ lane: "compute", begin_seconds: body.run_seconds - body.exposed_host_seconds, end_seconds: body.run_seconds, colour: "red", hatched: true,
    tip: `waits ${timeText(body.exposed_host_seconds)} for copies to and from the host` }] : [];
  return [...kernels, ...moves, ...waits("compute"), ...(moves.length ? waits("network") : []), ...copies, ...copiesWait];
}

function drawLanes(spans, lanes, seconds, width) {
  const interval = { x1: "begin_seconds", x2: "end_seconds", y: "lane", insetRight: 0.5 };
  return tagged(plot({ width, height: 24 * lanes.length + 20, marginLeft: 58, marginBottom: 20, x: { domain: [0, seconds], axis: null }, y: { domain: lanes, axis: null, padding: 0.12 }, marks: [
    Plot.barX(lanes, { x1: 0, x2: seconds, y: (lane) => lane, fill: "var(--track)" }), Plot.barX(spans, { ...interval, fill: colourOf, className: "spans" }), hatching(spans, interval),
    Plot.axisY({ tickSize: 0, label: null, textAnchor: "start", tickPadding: 56 }), unitAxis(seconds, inSeconds, width - 58)] }),
  "spans", spans, (s) => ({ "data-tip": s.tip, "data-lane": s.lane, "data-seconds": spanLength(s) }));
}

function bodyRow(e, body) {
  const all = body.run_seconds * body.runs, waits = timeText(lengthOf(body.waits)), spans = spansOf(e, body);
  const note = `${body.runs === 1 ? "" : `${countText(body.runs)} × ${timeText(body.run_seconds)} = `}${timeText(all)}, ${shareText(all / e.time.step_seconds)}${body.empty_runs > 0 ? `, ${countText(body.empty_runs)} of the runs empty` : ""}`;
  const lanes = ["compute", "network", "host"].filter((lane) => spans.some((s) => s.lane === lane));
  const said = { compute: `${timeText(lengthOf(body.kernels))} of kernels, ${waits} of waits`, network: `${timeText(lengthOf(body.moves))} of collectives, ${waits} waited for`, host: `${timeText(body.host_seconds)} of copies` };
  return el("div", { class: "body-row", tabindex: "0", role: "img", "aria-label": `${body.name}: ${lanes.map((lane) => `${lane}: ${said[lane]}`).join("; ")}` },
    el("div", { class: "label" }, el("b", {}, body.name), el("span", { class: "num soft" }, note)),
    responsive((width) => drawLanes(spans, lanes, body.run_seconds, width)));
}

function bodyTable(e, bodies) {
  return dataTable("Loops of the step", [
    { title: "loop", text: (b) => b.name }, { title: "runs", number: true, text: (b) => countText(b.runs) },
    { title: "a run", number: true, text: (b) => timeText(b.run_seconds) }, { title: "kernels", number: true, text: (b) => timeText(lengthOf(b.kernels)) },
    { title: "waits for collectives", number: true, text: (b) => timeText(lengthOf(b.waits)) },
    { title: "hidden collectives", number: true, text: (b) => timeText(Math.max(0, lengthOf(b.moves) - lengthOf(b.waits))) },
    { title: "waits for the host", number: true, text: (b) => timeText(b.exposed_host_seconds) },
    { title: "in all", number: true, text: (b) => timeText(b.run_seconds * b.runs) },
    { title: "waits most for", text: (b) => { const worst = [...b.waits].sort((x, y) => spanLength(y) - spanLength(x))[0]; if (!worst) return "–"; const { head, ops } = collectiveTitle(e, worst); return `${head}: ${ops}`; } }], bodies);
}

function timelineCard(e) {
  const bodies = e.time.timeline;
  if (!bodies) return null;
  const drawn = bodies.filter((b) => b.run_seconds * b.runs >= least * e.time.step_seconds);
  const rest = bodies.length - drawn.length;
  const parts = [...new Set(drawn.flatMap((b) => b.kernels.map((k) => k.part)))];
  const any = (drawsIt, entry) => (drawn.some(drawsIt) ? [entry] : []);
  const key = legend([...parts.map((p) => ({ label: partNames[p], colour: partColours[p] })),
    ...any((b) => b.moves.length, { label: "collectives that hide", colour: "slate" }),
    ...any((b) => b.host_seconds > 0, { label: "copies to and from the host", colour: hostColour }),
    ...any((b) => b.waits.length || b.exposed_host_seconds > 0, { label: "waits", colour: "red", hatched: true })]);
  return card("The step, loop by loop", figure("timeline",
    `One run of each loop, in the order of the step; tap a part for its name${rest ? `. ${plural(rest, "short part")} of the step ${rest === 1 ? "is" : "are"} in the numbers alone` : ""}`,
    el("div", {}, drawn.map((b) => bodyRow(e, b)), key), bodyTable(e, bodies)));
}
