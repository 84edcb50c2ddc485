// SPDX-License-Identifier: Apache-2.0
// The list of pages on a narrow window, the table of contents on a wide one, the search.
"use strict";

(() => {
  const root = document.documentElement.dataset.root;
  document.documentElement.classList.add("scripted");

  const menu = document.querySelector("header .menu");
  menu.addEventListener("click", () => {
    const isOpen = document.getElementById("pages").classList.toggle("open");
    menu.setAttribute("aria-expanded", String(isOpen));
  });

  const contents = document.querySelector(".contents");
  if (contents) {
    const wide = window.matchMedia("(min-width: 90rem)");
    const follow = () => (contents.open = wide.matches);
    wide.addEventListener("change", follow);
    follow();
  }

  document.querySelectorAll("pre:not(.diagram)").forEach((block) => {
    if (navigator.clipboard) {
      const button = document.createElement("button");
      button.className = "copy";
      button.type = "button";
      button.textContent = "Copy";
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(block.querySelector("code").textContent);
        button.textContent = "Copied";
        setTimeout(() => (button.textContent = "Copy"), 1500);
      });
      block.append(button);
    }
  });

  // --- search ---

  const MOST_RESULTS = 30;
  const input = document.getElementById("search");
  const results = document.getElementById("results");
  let sections = null;
  let loading = false;

  // The index is a script, not JSON, because a page on a disk may not fetch files.
  const load = () => {
    if (sections || loading) {
      return;
    }
    loading = true;
    const script = document.createElement("script");
    script.src = root + "assets/search-index.js";
    script.addEventListener("load", () => {
      sections = flatten(window.searchIndex);
      show();
    });
    document.head.append(script);
  };

  // One entry for each section of a page, and for each type of the Javadoc.
  const flatten = (index) =>
    index.flatMap(([path, title, parts]) =>
      (parts.length ? parts : [["", "", "", ""]]).map(([anchor, heading, text, terms]) => ({
        address: root + path + (anchor ? "#" + anchor : ""),
        title,
        heading: heading === title ? "" : heading,
        text,
        isType: parts.length === 0,
        titleWords: title.toLowerCase(),
        headingWords: heading.toLowerCase(),
        textWords: text.toLowerCase(),
        terms: terms.toLowerCase(),
      })),
    );

  // Every word must occur. Headings, and names that a table describes, count more than text; whole
  // names count more than parts of names.
  const score = (section, words) => {
    let sum = section.isType ? 2 : 0;
    for (const word of words) {
      let points = 0;
      if (section.headingWords.includes(word)) points += 12;
      if (section.titleWords.includes(word)) points += 8;
      if (section.terms.includes(word)) points += 8;
      const at = section.textWords.indexOf(word);
      if (at >= 0) {
        points += 2 + Math.min(4, section.textWords.split(word, 6).length - 1);
        const next = section.textWords.charAt(at + word.length);
        if (!/[a-z0-9]/.test(next)) points += 3;
      }
      if (section.isType && section.titleWords.endsWith("." + word)) points += 20;
      if (points === 0) return 0;
      sum += points;
    }
    return sum;
  };

  const find = (words) =>
    sections
      .map((section) => ({ section, points: score(section, words) }))
      .filter((found) => found.points > 0)
      .sort((a, b) => b.points - a.points)
      .slice(0, MOST_RESULTS)
      .map((found) => found.section);

  // Appends text to an element, with its words marked.
  const mark = (element, text, words) => {
    const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    for (const part of text.split(new RegExp("(" + escaped.join("|") + ")", "i"))) {
      if (words.includes(part.toLowerCase())) {
        const marked = document.createElement("mark");
        marked.textContent = part;
        element.append(marked);
      } else {
        element.append(part);
      }
    }
  };

  // Some words around the first one that was found.
  const extract = (section, words) => {
    const at = Math.max(0, section.textWords.indexOf(words[0]));
    const from = at < 60 ? 0 : section.text.indexOf(" ", at - 60) + 1;
    const rest = section.text.slice(from);
    const part = rest.length > 220 ? rest.slice(0, Math.max(160, rest.lastIndexOf(" ", 220))) : rest;
    return (from > 0 ? ".. " : "") + part + (part.length < rest.length ? " .." : "");
  };

  const item = (section, words) => {
    const line = document.createElement("li");
    const link = document.createElement("a");
    const place = document.createElement("span");
    const summary = document.createElement("span");
    link.href = section.address;
    place.className = "place";
    summary.className = "extract";
    mark(place, section.heading ? section.title + ": " + section.heading : section.title, words);
    mark(summary, section.isType ? "Java API" : extract(section, words), words);
    link.append(place, summary);
    line.append(link);
    return line;
  };

  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter((word) => word);
    results.hidden = words.length === 0;
    if (words.length === 0 || !sections) {
      return;
    }
    const found = find(words);
    results.replaceChildren(...found.map((section) => item(section, words)));
    if (found.length === 0) {
      const none = document.createElement("li");
      none.className = "none";
      none.textContent = "No page contains all words.";
      results.append(none);
    }
  };

  const move = (event, step) => {
    const links = [...results.querySelectorAll("a")];
    const next = links.indexOf(document.activeElement) + step;
    event.preventDefault();
    (next < 0 ? input : links[Math.min(next, links.length - 1)])?.focus();
  };

  input.addEventListener("focus", load);
  input.addEventListener("input", () => {
    load();
    show();
  });
  document.addEventListener("keydown", (event) => {
    const isInSearch = event.target === input || results.contains(event.target);
    if (event.key === "/" && !isInSearch && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape") {
      results.hidden = true;
    } else if (isInSearch && event.key === "ArrowDown") {
      move(event, 1);
    } else if (isInSearch && event.key === "ArrowUp") {
      move(event, -1);
    } else if (event.target === input && event.key === "Enter") {
      results.querySelector("a")?.click();
    }
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".search")) {
      results.hidden = true;
    }
  });
  input.addEventListener("focus", show);

  // A search in the address, as in index.html?q=replica+groups.
  const query = new URLSearchParams(window.location.search).get("q");
  if (query) {
    input.value = query;
    load();
  }
})();
