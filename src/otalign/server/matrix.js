// The matrix of weights: a table, or several below each other where its columns do not fit into the width.

const MOST_CELLS = 6000; // more would keep the browser busy for long
const MOST_ROWS = 100; // of all tables together; more are folded, so that what is below stays within reach
const [CELL, HEAD] = [34, 104]; // pixels of a column, and of the column of source words
const EAST_ASIAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uffef]/u;

function showMatrix(region, answer) {
  const { source, target } = answer;
  const count = source.length * target.length;
  region.answer = answer;
  if (!count || count > MOST_CELLS) {
    fold(region, false);
    region.replaceChildren(count ? `${source.length} × ${target.length} words are too many to be shown.` : "");
    region.shown = null;
    return;
  }
  const most = Math.max(Math.floor((region.parentElement.clientWidth - HEAD) / CELL), 1);
  const columns = Math.ceil(target.length / Math.ceil(target.length / most)); // tables of about the same width
  fold(region, Math.ceil(target.length / columns) * source.length > MOST_ROWS);
  if (!region.shown || region.shown.columns !== columns || !sameWords(region.shown, answer)) {
    const cells = source.map((_, i) => target.map((_, j) => Object.assign(made("td"), { pair: [i, j] })));
    const starts = indices(0, Math.ceil(target.length / columns)).map((k) => k * columns);
    region.shown = { source, target, columns, cells };
    region.replaceChildren(...starts.map((start) => bandOf(answer, cells, start, start + columns)));
  }
  const linked = new Set(answer.links.map(([i, j]) => `${i}-${j}`));
  answer.matrix.forEach((row, i) =>
    row.forEach((weight, j) => fillCell(region.shown.cells[i][j], weight, linked.has(`${i}-${j}`))),
  );
}

// Open or close the matrix when it gets short or long; meanwhile the reader may do either.
function fold(region, long) {
  if (region.long !== long) region.parentElement.open = !long;
  region.long = long;
}

function bandOf({ source, target }, cells, start, end) {
  const heads = target.slice(start, end).map((word) => headOf("col", word));
  const rows = source.map((word, i) => made("tr", "", headOf("row", word), ...cells[i].slice(start, end)));
  const corner = made("td", "corner", made("span", "unseen", "source word"));
  const table = made("table", "", made("thead", "", made("tr", "", corner, ...heads)), made("tbody", "", ...rows));
  table.ariaLabel = `Weights of target words ${start + 1} to ${Math.min(end, target.length)}`;
  return table;
}

function headOf(scope, word) {
  const head = made("th", "", made("span", EAST_ASIAN.test(word) ? "upright" : "", made("bdi", "", word)));
  return Object.assign(head, { scope, title: word });
}

function fillCell(cell, weight, isLink) {
  cell.style.setProperty("--weight", weight);
  cell.classList.toggle("linked", isLink);
  cell.classList.toggle("nothing", weight < 0.005);
  const text = weight < 0.005 ? "0" : weight.toFixed(2);
  const note = isLink ? [made("span", "unseen", " linked")] : [];
  if (cell.firstChild?.data !== text || cell.childElementCount !== note.length) cell.replaceChildren(text, ...note);
}

// The cell under the pointer lights its two words up in the drawing.
function lightCells(region, figureOf) {
  region.addEventListener("pointerover", ({ target }) => {
    const [pair, figure] = [target.closest("td")?.pair, figureOf()];
    if (!figure) return;
    turnOff(figure);
    if (!pair) return;
    const [i, j] = pair;
    const { source, target: words, matrix } = region.answer;
    lightPair(figure, i, j, `${quoted(source[i])} – ${quoted(words[j])}: ${matrix[i][j].toFixed(2)}`);
  });
  region.addEventListener("pointerleave", () => figureOf() && turnOff(figureOf()));
}
