// Two helps for a reader; the page is complete without them.
"use strict";

// A slider steps through the scenes of a picture: some parts stand out, a cursor moves, a sentence says what is seen.
for (const figure of document.querySelectorAll("figure[data-scenes]")) {
  const { label, start, toggles, scenes } = JSON.parse(figure.dataset.scenes);
  const controls = figure.querySelector(".controls");
  const parts = [...figure.querySelectorAll("[data-part]")];
  const labelled = (...content) => {
    const element = document.createElement("label");
    element.append(...content);
    controls.append(element);
  };
  for (const [part, name] of toggles) {
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = true;
    labelled(box, name);
    box.addEventListener("change", () => {
      for (const element of parts.filter((p) => p.dataset.part === part)) element.style.display = box.checked ? "" : "none";
    });
  }
  const slider = document.createElement("input");
  slider.type = "range";
  [slider.min, slider.max, slider.value] = [0, scenes.length - 1, start];
  const said = document.createElement("output");
  const show = () => {
    const scene = scenes[Number(slider.value)];
    for (const element of parts) {
      if (element.dataset.part === "cursor") element.setAttribute("transform", `translate(${scene.shift} 0)`);
      else element.classList.toggle("off", scene.parts !== null && !scene.parts.includes(element.dataset.part));
    }
    said.textContent = scene.says;
    slider.setAttribute("aria-valuetext", scene.says);
  };
  slider.addEventListener("input", show);
  labelled(label, slider);
  controls.append(said);
  controls.hidden = false;
  show();
}

// One step at a time: the step that the address names, turned with links or the arrow keys.
const place = document.getElementById("stepwise");
if (place) {
  const steps = [...document.querySelectorAll("main > section")];
  const button = document.createElement("button");
  const named = () => Math.max(0, steps.findIndex((step) => "#" + step.id === location.hash));
  const isStepwise = () => document.body.classList.contains("stepwise");
  const turn = () => {
    steps.forEach((step, i) => step.classList.toggle("current", i === named()));
    if (isStepwise()) steps[named()].querySelector("h2").focus();
  };
  button.textContent = "One step at a time";
  button.setAttribute("aria-pressed", "false");
  button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", String(document.body.classList.toggle("stepwise")));
    turn();
  });
  addEventListener("hashchange", turn);
  addEventListener("keydown", (event) => {
    const next = named() + { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (isStepwise() && steps[next] && event.target.tagName !== "INPUT") location.hash = steps[next].id;
  });
  place.append(button);
  place.hidden = false;
  turn();
}
