// Elements, and what charts share: a figure with its table behind it, and one tip for hover, focus and tap.
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined && child !== "") node.append(child);
  return node;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svgEl = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** In the next frame: what observers change changes the sizes that they are told of, and a browser reports that as an error. */
function onResize(host, work) {
  new ResizeObserver(() => requestAnimationFrame(work)).observe(host);
}

let nextId = 0;
const freshId = (stem) => `${stem}-${(nextId += 1)}`;

/** A chart with what it says in a sentence, its drawing, and its numbers. */
function figure(name, caption, drawing, table) {
  return el("figure", { "data-chart": name }, caption ? el("figcaption", {}, caption) : null, drawing,
    table ? el("details", {}, el("summary", {}, "Numbers"), table) : null);
}

function card(title, ...content) {
  const id = freshId("section");
  return el("section", { class: "card", "aria-labelledby": id }, el("h2", { id }, title), content);
}
function wide(section) { section.classList.add("full"); return section; }
const wideOrNothing = (section) => (section ? wide(section) : null);

/** Two stacks of cards beside each other, below each other where there is no room; what is null is left out. */
const pair = (left, right) => el("div", { class: "columns" }, [left, right].map((cards) => cards.filter(Boolean)).filter((cards) => cards.length)
  .map((cards) => el("div", { class: "stack" }, cards)));

/** Nothing where there is nothing to tell apart. `form`, `drawing`: what is drawn otherwise than as a filled box. */
const legend = (entries) => (entries.length ? el("ul", { class: "key" }, entries.map(({ label, colour, hatched, form, drawing }) =>
  el("li", {}, drawing || el("i", { style: form ? null : `background-color:var(--${colour})`, class: form || (hatched ? "hatched" : null) }), label))) : null);

function copyButton(text, what) {
  const said = el("span", { class: "sr", role: "status" });
  const button = el("button", { type: "button", "aria-label": `Copy ${what}` }, "Copy");
  button.addEventListener("click", async () => {
    const done = await copyText(text);
    button.textContent = done ? "Copied" : "Select and copy";
    said.textContent = done ? `${what} copied` : "copying is not possible here";
    setTimeout(() => { button.textContent = "Copy"; said.textContent = ""; }, 2500);
  });
  return [button, said];
}

/** A file on a disk is no secure context everywhere: the old way is tried where the new one is refused. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el("textarea", { style: "position:fixed;opacity:0", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** Everything with data-tip shows it on hover, focus and tap; Escape hides it. */
function installTips() {
  const tip = el("div", { id: "tip", role: "tooltip", hidden: true });
  document.body.append(tip);
  let mark = null;
  const hide = () => { tip.hidden = true; mark = null; };
  const place = () => {
    const box = mark.getBoundingClientRect(), own = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, box.left + box.width / 2 - own.width / 2), innerWidth - own.width - 8);
    const above = box.top - own.height - 8;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 4 ? above : Math.min(box.bottom + 8, innerHeight - own.height - 4)}px`;
  };
  const show = (event) => {
    mark = event.target.closest && event.target.closest("[data-tip]");
    if (!mark) return hide();
    tip.textContent = mark.dataset.tip;
    tip.hidden = false;
    place();
  };
  for (const kind of ["pointerover", "focusin", "click"]) document.addEventListener(kind, show);
  document.addEventListener("focusout", hide);
  // What is reached by keyboard scrolls into view, and keeps its tip.
  document.addEventListener("scroll", () => { if (mark && mark === document.activeElement) place(); else hide(); }, true);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
}

/** One stop of the Tab key for all cells of a grid; from there the arrows, Home and End go on, with Control to the ends of it. */
function walkedByArrows(table) {
  const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].filter((cell) => cell.tagName === "TD"));
  const cells = rows.flat();
  const stop = (at) => cells.forEach((cell) => { cell.tabIndex = cell === at ? 0 : -1; });
  stop(cells.find((cell) => cell.classList.contains("named")) || cells[0]);
  table.addEventListener("focusin", (event) => { if (cells.includes(event.target)) stop(event.target); });
  table.addEventListener("keydown", (event) => {
    const row = rows.findIndex((some) => some.includes(event.target));
    if (row < 0) return;
    const column = rows[row].indexOf(event.target), last = rows[row].length - 1, all = event.ctrlKey;
    const to = { ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1], ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
      Home: [all ? 0 : row, 0], End: [all ? rows.length - 1 : row, last] }[event.key];
    if (!to) return;
    event.preventDefault();
    if (rows[to[0]] && rows[to[0]][to[1]]) rows[to[0]][to[1]].focus();
  });
  return table;
}
