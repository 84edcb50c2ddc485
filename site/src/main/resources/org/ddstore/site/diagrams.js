// SPDX-License-Identifier: Apache-2.0
// Replaces the source of each diagram by its drawing; a source that cannot be drawn stays.
"use strict";

(async () => {
  // A wide drawing gets a scroll bar rather than text that nobody can read.
  const LEAST_SCALE = 0.6;
  const isDark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    theme: isDark ? "dark" : "neutral",
    fontFamily: getComputedStyle(document.body).fontFamily,
  });
  let number = 0;
  for (const block of document.querySelectorAll("pre.diagram")) {
    const id = "diagram-" + number++;
    try {
      const { svg } = await mermaid.render(id, block.textContent);
      const figure = document.createElement("figure");
      figure.className = "diagram";
      figure.innerHTML = svg;
      const drawing = figure.firstElementChild;
      drawing.style.minWidth = LEAST_SCALE * drawing.viewBox.baseVal.width + "px";
      block.replaceWith(figure);
    } catch (error) {
      document.getElementById("d" + id)?.remove(); // mermaid's own report
      console.error(error);
    }
  }
  document.documentElement.dataset.diagrams = "drawn";
})();
