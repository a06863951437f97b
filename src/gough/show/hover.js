// Values of curves under the mouse: a line across all panels over the same time, and numbers beside it.
"use strict";
function goughHover(box) {
  const panels = JSON.parse(box.querySelector("script").textContent);
  const image = box.querySelector("img"), said = document.createElement("div");
  said.className = "values";
  said.hidden = true;
  box.append(said);
  const cursors = panels.map(() => {
    const one = document.createElement("div");
    one.className = "cursor";
    one.hidden = true;
    box.append(one);
    return one;
  });
  const dots = [];
  const shown = (value) => Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3)
    ? value.toExponential(3) : String(Number(value.toPrecision(5)));
  const along = (value, range, log) => log
    ? Math.log(value / range[0]) / Math.log(range[1] / range[0]) : (value - range[0]) / (range[1] - range[0]);
  const nearest = (x, at) => {
    let low = 0, high = x.length - 1;
    while (high - low > 1) { const middle = (low + high) >> 1; if (x[middle] > at) high = middle; else low = middle; }
    return Math.abs(x[low] - at) <= Math.abs(x[high] - at) ? low : high;
  };
  function leave() {
    said.hidden = true;
    for (const one of [...cursors, ...dots]) one.hidden = true;
  }
  function move(event) {
    const frame = image.getBoundingClientRect();
    const u = (event.clientX - frame.left) / frame.width, v = (event.clientY - frame.top) / frame.height;
    const here = panels.find((p) => u >= p.box[0] && u <= p.box[2] && v >= p.box[1] && v <= p.box[3]);
    if (!here) { leave(); return; }
    const part = (u - here.box[0]) / (here.box[2] - here.box[0]);
    const wanted = here.x[0] + part * (here.x[1] - here.x[0]);
    const ground = here.grounds[here.lines[0].ground];
    const at = ground[nearest(ground, wanted)];
    panels.forEach((p, k) => {
      const same = p.x[0] === here.x[0] && p.x[1] === here.x[1];
      cursors[k].hidden = !same;
      const across = p.box[0] + along(at, p.x, false) * (p.box[2] - p.box[0]);
      cursors[k].style.cssText = `left:${across * frame.width}px;top:${p.box[1] * frame.height}px;` +
        `height:${(p.box[3] - p.box[1]) * frame.height}px`;
    });
    for (const one of dots) one.hidden = true;
    const rows = here.lines.map((line, k) => {
      const x = here.grounds[line.ground], i = nearest(x, at), value = line.y[i];
      if (value === null) return null;
      if (!dots[k]) { dots[k] = document.createElement("div"); dots[k].className = "dot"; box.append(dots[k]); }
      const up = along(value, here.y, here.log);
      dots[k].hidden = !(up >= 0 && up <= 1);
      dots[k].style.cssText = `background:${line.color};` +
        `left:${(here.box[0] + along(x[i], here.x, false) * (here.box[2] - here.box[0])) * frame.width}px;` +
        `top:${(here.box[3] - up * (here.box[3] - here.box[1])) * frame.height}px`;
      return [line, value];
    }).filter((one) => one);
    said.replaceChildren();
    const head = document.createElement("b");
    head.textContent = `${here.across} ${shown(at)}`;
    said.append(head);
    for (const [line, value] of rows) {
      const row = document.createElement("div"), mark = document.createElement("i");
      mark.style.background = line.color;
      row.append(mark, `${line.name}  ${shown(value)}`);
      said.append(row);
    }
    said.hidden = false;
    const right = u > 0.6;
    said.style.left = right ? "" : `${u * frame.width + 16}px`;
    said.style.right = right ? `${box.clientWidth - u * frame.width + 16}px` : "";
    said.style.top = `${here.box[1] * frame.height}px`;
  }
  box.addEventListener("pointermove", move);
  box.addEventListener("pointerdown", move);
  box.addEventListener("pointerleave", leave);
}
document.querySelectorAll(".gough-hover").forEach(goughHover);
