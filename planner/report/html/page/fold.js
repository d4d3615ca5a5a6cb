// Parts of a page that fold, and are made when they are first opened: a page of many opens as quickly as one of few.
const unmade = new Map();

function setFold(fold, open) {
  const make = open && unmade.get(fold);
  fold.open = open;
  if (!make) return;
  unmade.delete(fold);
  fill(fold, {}, make());
  showNamedCells(fold);
}

function foldOf(id, summary, make, open) {
  const fold = el("details", { class: "fold", id, ontoggle: () => setFold(fold, fold.open) }, summary);
  unmade.set(fold, make);
  if (open) setFold(fold, true);
  return fold;
}

const setFolds = (open) => document.querySelectorAll("details.fold").forEach((fold) => setFold(fold, open));

/** A fold that a link leads to opens, and every one does for paper, which waits for no chart to see its width. */
function installFolds() {
  const openLinked = () => {
    const fold = document.getElementById(location.hash.slice(1));
    if (!fold || !fold.matches("details.fold")) return;
    setFold(fold, true);
    fold.scrollIntoView();
  };
  document.addEventListener("click", (event) => { if (event.target.closest("a[href^='#']")) setTimeout(openLinked); });
  addEventListener("hashchange", openLinked);
  addEventListener("beforeprint", () => { setFolds(true); redrawAll(); });
  openLinked();
}
