// The controls of the profile picture: which curves are shown, and a cursor that reads off the curve.
// The picture is complete without them; the numbers are floats, for the eye alone.
"use strict";
for (const figure of document.querySelectorAll("figure.profile")) {
  const curve = JSON.parse(figure.dataset.curve);
  const controls = figure.querySelector(".controls");
  const cursor = figure.querySelector(".cursor");
  const labelled = (text, input) => {
    const label = document.createElement("label");
    label.append(input, " " + text);
    controls.append(label);
    return input;
  };
  for (const path of figure.querySelectorAll("[data-part]")) {
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = true;
    const part = path.dataset.part;
    labelled(part === "0" ? "f_k" : "head " + part, box).addEventListener("change", () => {
      path.style.display = box.checked ? "" : "none";
    });
  }
  const slider = document.createElement("input");
  slider.type = "range";
  slider.step = 0.05;
  [slider.min, slider.max] = [Math.ceil(curve.x[0] * 20) / 20, curve.x[1]];
  slider.value = 1;
  const said = document.createElement("output");
  const show = () => {
    const k = Number(slider.value);
    const parts = curve.poles.map((pole, h) => (curve.residues[h] * k) / (k - pole));
    const total = parts.reduce((sum, part) => sum + part, curve.base);
    const x = curve.left + ((k - curve.x[0]) / (curve.x[1] - curve.x[0])) * curve.width;
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    cursor.removeAttribute("hidden");
    const value = Number.isFinite(total) ? "f ≈ " + total.toPrecision(5) : "a pole";
    said.textContent = value + " at k = " + k.toFixed(2);
  };
  labelled("k", slider).addEventListener("input", show);
  controls.append(said);
  controls.hidden = false;
  show();
}
