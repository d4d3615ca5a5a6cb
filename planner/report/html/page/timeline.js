// The step's loops, and of each one run: what the device computes, what is on the network meanwhile, what it waits for.
const partColours = { forward: "blue", rematerialized_forward: "teal", gradient: "violet", right_gradient: "pink", stacks: "green", update: "amber" };
const partNames = { forward: "forward", rematerialized_forward: "forward again", gradient: "gradients", right_gradient: "weights' gradients", stacks: "stacks of the loop", update: "update" };
const least = 0.005; // of the step, that a loop takes to be drawn

const spanLength = (span) => span.end_seconds - span.begin_seconds;
const lengthOf = (spans) => sum(spans.map(spanLength));
const collectiveTitle = (e, span) => {
  const members = span.collectives.map((i) => e.collectives[i]);
  return { head: `${members[0].kind} over ${members[0].axes.join("+") || "no axis"}`, ops: members.map((c) => c.op).join(", "), why: members[0].why };
};

const mark = (body, span, colour, tip, extra = {}) => el("span", { "data-tip": tip, "data-seconds": spanLength(span), ...extra,
  style: `left:${(100 * span.begin_seconds) / body.run_seconds}%;width:${(100 * spanLength(span)) / body.run_seconds}%;background-color:var(--${colour})` });

function lane(name, said, marks) {
  return el("div", { class: "lane", "data-lane": name, role: "img", tabindex: "0", "aria-label": `${name}: ${said}` },
    el("b", { "aria-hidden": "true" }, name), el("div", { class: "spans" }, marks));
}

function bodyRow(e, body) {
  const all = body.run_seconds * body.runs, waits = lengthOf(body.waits), moves = lengthOf(body.moves);
  const note = `${body.runs === 1 ? "" : `${countText(body.runs)} × ${timeText(body.run_seconds)} = `}${timeText(all)}, ${shareText(all / e.time.step_seconds)}${body.empty_runs > 0 ? `, ${countText(body.empty_runs)} of the runs empty` : ""}`;
  const kernel = (k) => mark(body, k, partColours[k.part], `${k.name}\n${timeText(spanLength(k))}`);
  const move = (m) => { const { head, ops } = collectiveTitle(e, m); return mark(body, m, "slate", `${head}\n${ops}\n${timeText(spanLength(m))} on the network`); };
  const wait = (w) => { const { head, ops, why } = collectiveTitle(e, w); return mark(body, w, "red", `waits ${timeText(spanLength(w))} for ${head}\n${ops}\n${why}`, { class: "wait" }); };
  const hostEnd = { begin_seconds: body.run_seconds - body.exposed_host_seconds, end_seconds: body.run_seconds };
  return el("div", { class: "body-row" },
    el("div", { class: "label" }, el("b", {}, body.name), el("span", { class: "num soft" }, note)),
    lane("compute", `${timeText(lengthOf(body.kernels))} of kernels, ${timeText(waits)} of waits`, [...body.kernels.map(kernel), ...body.waits.map(wait),
      body.exposed_host_seconds > 0 ? mark(body, hostEnd, "red", `waits ${timeText(body.exposed_host_seconds)} for copies to and from the host`, { class: "wait" }) : null]),
    body.moves.length ? lane("network", `${timeText(moves)} of collectives, ${timeText(waits)} waited for`, [...body.moves.map(move), ...body.waits.map(wait)]) : null,
    body.host_seconds > 0 ? lane("host", `${timeText(body.host_seconds)} of copies`, [mark(body, { begin_seconds: 0, end_seconds: Math.min(body.host_seconds, body.run_seconds) }, "slate", `copies to and from the host\n${timeText(body.host_seconds)}`)]) : null);
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
  const key = legend([...parts.map((p) => ({ label: partNames[p], colour: partColours[p] })), { label: "collectives that hide", colour: "slate" }, { label: "waits", colour: "red", hatched: true }]);
  return card("The step, loop by loop", figure("timeline",
    `One run of each loop, in the order of the step; tap a part for its name${rest ? `. ${plural(rest, "short part")} of the step ${rest === 1 ? "is" : "are"} in the numbers alone` : ""}`,
    el("div", {}, drawn.map((b) => bodyRow(e, b)), key), bodyTable(e, bodies)));
}
