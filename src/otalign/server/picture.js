// The drawing as a picture of its own: SVG as it is on the screen, or PNG.

const LOOK = [
  ...["fill", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "paint-order"],
  ...["font-size", "font-weight", "text-anchor"],
];
const MARGIN = 16; // pixels around it
const SCALE = 2; // pixels of a PNG for one of the screen

function pictureOf(figure) {
  const [{ width }, height] = [figure.placed, figure.clientHeight];
  const size = { width: width + 2 * MARGIN, height: height + 2 * MARGIN };
  const { fontFamily, fontSize, color } = getComputedStyle(figure);
  const back = getComputedStyle(document.body).backgroundColor;
  const title = drawn("title", {}, figure.ariaLabel);
  const content = drawn("g", { transform: `translate(${MARGIN} ${MARGIN})` });
  content.append(...[...figure.querySelectorAll(".stroke")].map(copyStroke));
  content.append(...SIDES.flatMap((side) => figure.words[side].flatMap((word) => pictureOfWord(figure, word))));
  content.append(...[...figure.querySelectorAll(".gutter span")].map((label) => textAt(label, 0, middleOf(figure, label), "start")));
  const attributes = { xmlns: "http://www.w3.org/2000/svg", ...size, viewBox: `0 0 ${size.width} ${size.height}` };
  const look = { "font-family": fontFamily, "font-size": fontSize, fill: color };
  return drawn("svg", { ...attributes, ...look }, title, drawn("rect", { ...size, fill: back }), content);
}

function copyStroke(stroke) {
  const copies = [...stroke.children]
    .filter((part) => getComputedStyle(part).visibility === "visible")
    .map((part) => {
      const [copy, style] = [part.cloneNode(true), getComputedStyle(part)];
      copy.removeAttribute("class");
      for (const name of LOOK) copy.setAttribute(name, style.getPropertyValue(name));
      return copy;
    });
  return drawn("g", {}, ...copies);
}

function pictureOfWord(figure, word) {
  const { left, right, top, bottom } = figure.placed[word.side][word.place];
  const parts = [textAt(word.querySelector("bdi"), (left + right) / 2, (top + bottom) / 2, "middle")];
  const sign = word.querySelector(".sign");
  if (!sign) return parts;
  const { borderColor, borderStyle } = getComputedStyle(word);
  const frame = { x: left, y: top, width: right - left, height: bottom - top, rx: 5, fill: "none", stroke: borderColor };
  parts.push(drawn("rect", { ...frame, "stroke-dasharray": borderStyle === "dotted" ? "1 3" : "4 3" }));
  parts.push(textAt(sign, (left + right) / 2, middleOf(figure, sign), "middle"));
  return parts;
}

const middleOf = (figure, element) => box(element).y + box(element).height / 2 - box(figure).y;

function textAt(element, x, y, anchor) {
  const { color, fontSize } = getComputedStyle(element);
  const look = { fill: color, "font-size": fontSize, "text-anchor": anchor, "dominant-baseline": "central" };
  return drawn("text", { x, y, ...look }, element.textContent);
}

function svgOf(figure) {
  return new XMLSerializer().serializeToString(pictureOf(figure));
}

async function pngOf(figure) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgOf(figure))}`;
  await image.decode();
  const canvas = Object.assign(made("canvas"), { width: SCALE * image.width, height: SCALE * image.height });
  const context = canvas.getContext("2d");
  context.scale(SCALE, SCALE);
  context.drawImage(image, 0, 0);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

function save(content, type, name) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  Object.assign(made("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
