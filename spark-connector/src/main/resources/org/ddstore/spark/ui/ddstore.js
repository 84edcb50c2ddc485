// SPDX-License-Identifier: Apache-2.0
// Shows the JSON of api/stores and api/store. All data becomes text nodes, never HTML.
"use strict";
(() => {
  const REFRESH_MS = 5000;
  const SHOWN_RANKS = 32; // of the steps
  const SHOWN_EXECUTORS = 64;
  const CHIPS = 512; // most ranks that are drawn one by one
  const STALL_LIMIT = 0.1;
  const PATHS = [
    ["own_process", "own", "own process"],
    ["same_host", "same", "same host"],
    ["remote", "remote", "other hosts"],
  ];
  const root = document.getElementById("ddstore");
  const loaders = new Map(); // store, executor and reader to the last two loader times
  let events = { isOpen: false };

  // --- text ---------------------------------------------------------------------------------------

  const number = (n) => Number(n).toLocaleString("en-US", { maximumFractionDigits: n < 10 ? 1 : 0 });
  const scaled = (n, step, units) => {
    let i = 0;
    while (n >= step && i < units.length - 1) {
      n /= step;
      i++;
    }
    return `${n.toLocaleString("en-US", { maximumFractionDigits: n < 100 && i > 0 ? 1 : 0 })}${units[i]}`;
  };
  const bytes = (n) => scaled(n, 1024, [" B", " KiB", " MiB", " GiB", " TiB", " PiB"]);
  const amount = (n) => scaled(n, 1000, ["", " k", " M", " G", " T"]);
  const percent = (x) => `${(100 * x).toFixed(x < 0.1 ? 1 : 0)} %`;
  const duration = (ms) =>
    ms < 1 ? `${(ms * 1000).toFixed(0)} µs`
      : ms < 1000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms`
      : ms < 120e3 ? `${(ms / 1000).toFixed(1)} s`
      : ms < 7200e3 ? `${Math.round(ms / 60e3)} min`
      : ms < 172800e3 ? `${Math.round(ms / 3600e3)} h` : `${Math.round(ms / 86400e3)} days`;
  const count = (n, one, many) => `${number(n)} ${n === 1 ? one : many}`;
  const time = (ms) => new Date(ms).toLocaleTimeString("en-GB");
  /** Returns sorted numbers as ranges: 0-3, 8. */
  const ranges = (numbers) => {
    const parts = [];
    for (let i = 0; i < numbers.length; i++) {
      const first = numbers[i];
      while (i + 1 < numbers.length && numbers[i + 1] === numbers[i] + 1) i++;
      parts.push(first === numbers[i] ? `${first}` : `${first}–${numbers[i]}`);
    }
    return parts.length > 20 ? `${parts.slice(0, 20).join(", ")}, ..` : parts.join(", ");
  };

  // --- elements -----------------------------------------------------------------------------------

  /** Returns an element with text or child elements. */
  const el = (tag, classes, ...content) => {
    const element = document.createElement(tag);
    if (classes) element.className = classes;
    element.append(...content.map((c) => (c instanceof Node ? c : String(c))));
    return element;
  };
  const svg = (tag, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    if (text !== undefined) element.textContent = text;
    return element;
  };
  /** A table; a column whose title begins with # is one of numbers. */
  const table = (titles, rows) => {
    const kind = (i) => (titles[i].startsWith("#") ? "n" : "");
    const head = el("tr", "", ...titles.map((t, i) => el("th", kind(i), t.replace("#", ""))));
    const body = rows.map((row) => el("tr", "", ...row.map((c, i) => el("td", kind(i), c))));
    return el("div", "table-scroll",
      el("table", "", el("thead", "", head), el("tbody", "", ...body)));
  };
  const fact = (value, name, classes = "") => el("div", "fact", el("b", classes, value), el("span", "", name));

  // --- overview -----------------------------------------------------------------------------------

  const health = (s) =>
    s.droppedMs ? ["", `dropped ${new Date(s.droppedMs).toLocaleString("en-GB")}`]
      : s.unreadableRows > 0 ? ["bad", `${number(s.unreadableRows)} rows lost`]
      : s.lostRanks.length > 0 ? ["bad", count(s.lostRanks.length + (s.lostRanksOmitted || 0), "lost shard, copies serve", "lost shards, copies serve")]
      : ["good", "complete"];

  const showOverview = (data) => {
    const link = (name) => {
      const a = el("a", "", name);
      a.href = `#${encodeURIComponent(name)}`;
      return a;
    };
    const rows = data.stores.map((s) => {
      const [classes, text] = health(s);
      return [link(s.name), number(s.rows), bytes(s.bytes), number(s.ranks), number(s.executorCount),
        number(s.ranks / s.width), el("span", classes, text), number(s.outsideChannels), s.owner,
        duration(data.nowMs - s.createdMs)];
    });
    const content = rows.length > 0
      ? table(["Store", "#Rows", "#Bytes per copy", "#Ranks", "#Executors", "#Copies", "Health",
        "#Outside readers", "Owner", "#Age"], rows)
      : el("p", "", data.isLive
        ? "No store is in memory. DDStores.from(rows).load(\"name\") loads one."
        : "The log of the application has no store.");
    root.replaceChildren(bar(data, []), content, ...eventList(data.events));
  };

  const bar = (data, parts) => el("div", "bar",
    el("span", "", data.isLive ? `as of ${time(data.nowMs)}; executors are asked every 10 s` : "from the log of the application"),
    ...parts);

  const eventList = (list) => {
    const shown = list.slice(-200).reverse();
    if (shown.length === 0) return [];
    const details = el("div", "", table(["Time", "Store", "Event", "What"],
      shown.slice(0, events.isOpen ? 200 : 12).map((e) =>
        [time(e.timeMs), e.store, el("span", e.kind === "loss" ? "bad" : "", e.kind), el("span", "text", e.text)])));
    const parts = [el("h4", "", "Events"), details];
    if (shown.length > 12) {
      const button = el("button", "btn btn-sm btn-outline-secondary", events.isOpen ? "Fewer" : `All ${shown.length}`);
      button.onclick = () => {
        events.isOpen = !events.isOpen;
        refresh();
      };
      parts.push(button);
    }
    return parts;
  };

  // --- one store ----------------------------------------------------------------------------------

  const showStore = (data) => {
    const s = data.store;
    const back = el("a", "", "all stores");
    back.href = "#";
    const [classes, text] = health(s);
    const channels = s.executors.flatMap((e) => e.outside).reduce((sum, o) => sum + o.channels, 0);
    root.replaceChildren(
      bar(data, [back]),
      el("h4", "", s.name),
      el("div", "facts",
        fact(number(s.rows), "rows"),
        fact(bytes(s.bytes), "per copy"),
        fact(number(s.ranks), `ranks, ${count(s.ranks / s.width, "copy", "copies")}`),
        fact(number(s.executors.filter((e) => e.shards > 0).length + (s.executorsOmitted || 0)), "executors with rows"),
        fact(text, "health", classes),
        fact(number(channels), "outside readers"),
        fact(s.backing, "memory of the rows"),
        fact(duration(data.nowMs - s.createdMs), `since the load by ${s.owner}`),
        ...(s.losses > 0 ? [fact(number(s.losses), `shards lost, ${count(s.repairs, "repair", "repairs")} in ${duration(s.repairMillis)}`)] : [])),
      el("h4", "", "What a step spends"), ...steps(s),
      el("h4", "", "Reads over time"), charts(data),
      el("h4", "", "Ranks by executor and host"), drawing(s), links(s),
      el("h4", "", "Executors"), executors(data),
      ...outside(s), ...eventList(data.events));
  };

  /** Returns the times since the last report that has new batches; at first those of all batches. */
  const recent = (store, executor, reader) => {
    const key = JSON.stringify([store.name, store.createdMs, executor.executorId, reader.reader]);
    const known = loaders.get(key) || [];
    const last = known[known.length - 1];
    if (!last || last.batches !== reader.loader.batches) known.push({ ...reader.loader });
    if (known.length > 2) known.shift();
    loaders.set(key, known);
    const [from, to] = known.length === 2 ? known : [null, known[0]];
    const part = {};
    Object.keys(to).forEach((name) => (part[name] = from ? to[name] - from[name] : to[name]));
    return part;
  };

  const steps = (s) => {
    const ranks = [];
    const latest = new Map(); // a rank may have moved to another executor
    s.executors.forEach((executor) => executor.readers.forEach((reader) => {
      if (reader.loader.batches > 0 && !(latest.get(reader.reader) > executor.answeredMs)) {
        latest.set(reader.reader, executor.answeredMs);
      }
    }));
    s.executors.forEach((executor) => executor.readers.forEach((reader) => {
      if (reader.loader.batches > 0 && latest.get(reader.reader) === executor.answeredMs) {
        const t = recent(s, executor, reader);
        const n = Math.max(1, t.batches);
        const stepNanos = t.waitNanos + t.computeNanos;
        ranks.push({ name: reader.reader, wait: t.waitNanos / n / 1e6, compute: t.computeNanos / n / 1e6,
          read: t.readNanos / n / 1e6, stall: stepNanos > 0 ? t.waitNanos / stepNanos : 0 });
      }
    }));
    if (ranks.length === 0) return [el("p", "", "No rank has read batches by a loader.")];
    ranks.sort((a, b) => b.stall - a.stall || a.name.localeCompare(b.name, "en", { numeric: true }));
    const mean = (part) => ranks.reduce((sum, r) => sum + r[part], 0) / ranks.length;
    const stall = mean("stall");
    let verdict = `Compute is the limit: ranks wait for data in ${percent(stall)} of a step.`;
    if (stall >= STALL_LIMIT) {
      verdict = `Data is the limit: ranks wait for data in ${percent(stall)} of a step. `;
      verdict += mean("read") < mean("wait") / 2
        ? `Reading a batch takes ${duration(mean("read"))}, so most of the wait is not reading: look at the loader's transform, its threads and its sampler.`
        : `Reading a batch takes ${duration(mean("read"))}: more threads of the loader read more at the same time; more ranks near the rows, or larger batches, read faster.`;
    }
    const longest = Math.max(...ranks.map((r) => Math.max(r.wait + r.compute, r.read))) || 1;
    const piece = (classes, part) => {
      const i = el("i", classes);
      i.style.width = `${(100 * part) / longest}%`;
      return i;
    };
    const rows = ranks.slice(0, SHOWN_RANKS).map((r) => el("div", "step",
      el("span", "", r.name.replace("rank", "rank ")),
      el("div", "", el("div", "track", piece("wait", r.wait), piece("compute", r.compute)),
        el("div", "track thin", piece("read", r.read))),
      el("span", "said", `waits ${duration(r.wait)}, computes ${duration(r.compute)}, reads ${duration(r.read)}`)));
    const rest = ranks.length - rows.length;
    return [
      el("p", stall >= STALL_LIMIT ? "verdict data" : "verdict", verdict),
      el("div", "bar", el("span", "key wait", "waits for a batch"), el("span", "key compute", "computes"),
        el("span", "key read", "reads, in other threads")),
      ...rows,
      ...(rest > 0 ? [el("p", "", `and ${number(rest)} ranks that wait less`)] : [])];
  };

  const charts = ({ samples, isLive }) => {
    if (!isLive) return el("p", "", "The log has no reads over time.");
    if (samples.length < 2) return el("p", "", "The first two samples take up to 20 s.");
    return el("div", "charts",
      chart(samples, "rows", "rows/s", amount), chart(samples, "bytes", "bytes/s", bytes));
  };

  /** A line per read path of the change of a counter per second. */
  const chart = (samples, key, unit, format) => {
    const W = 560, H = 170, LEFT = 62, BOTTOM = 22;
    const rates = samples.slice(1).map((now, i) => ({
      ms: now.timeMs,
      values: now[key].map((v, p) => Math.max(0, v - samples[i][key][p]) / Math.max(0.001, (now.timeMs - samples[i].timeMs) / 1000)),
    }));
    const top = Math.max(1, ...rates.flatMap((r) => r.values));
    const from = rates[0].ms, to = Math.max(from + 1, rates[rates.length - 1].ms);
    const x = (ms) => LEFT + ((W - LEFT - 6) * (ms - from)) / (to - from);
    const y = (v) => 8 + (H - BOTTOM - 8) * (1 - v / top);
    const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img" });
    [0, 0.5, 1].forEach((share) => {
      picture.append(svg("line", { class: "grid", x1: LEFT, x2: W - 6, y1: y(share * top), y2: y(share * top) }));
      picture.append(svg("text", { x: LEFT - 6, y: y(share * top) + 4, "text-anchor": "end" }, format(share * top)));
    });
    picture.append(svg("text", { x: LEFT, y: H - 5 }, time(from)));
    picture.append(svg("text", { x: W - 6, y: H - 5, "text-anchor": "end" }, time(to)));
    PATHS.forEach(([, classes], p) => {
      const d = rates.map((r, i) => `${i ? "L" : "M"}${x(r.ms).toFixed(1)} ${y(r.values[p]).toFixed(1)}`).join("");
      picture.append(svg("path", { class: classes, d: rates.length > 1 ? d : `${d}H${W - 6}` }));
    });
    const last = rates[rates.length - 1].values;
    return el("figure", "", picture, el("figcaption", "", `${unit} by path, now:`,
      ...PATHS.map(([, classes, name], p) => el("span", `key ${classes}`, `${name} ${format(last[p])}/s`))));
  };

  const drawing = (s) => {
    const lost = new Set(s.lostRanks);
    const held = s.executors.filter((e) => e.ranks.length > 0);
    const hosts = new Map();
    held.forEach((e) => hosts.set(e.host, [...(hosts.get(e.host) || []), e]));
    const isLarge = held.length > SHOWN_EXECUTORS;
    const chip = (rank) => el("span", lost.has(rank) ? "rank lost" : "rank", rank);
    const box = (e) => el("div", "executor", el("div", "name", `executor ${e.executorId} · ${bytes(e.bytes)}`),
      s.ranks <= CHIPS ? el("div", "ranks", ...e.ranks.map(chip))
        : el("div", "", `ranks ${ranges(e.ranks)}`));
    const parts = [...hosts].slice(0, SHOWN_EXECUTORS).map(([host, list]) => el("div", "host",
      el("div", "name", `host ${host}`),
      isLarge
        ? el("div", "", `${count(list.length, "executor", "executors")}, ${number(list.reduce((n, e) => n + e.ranks.length, 0))} ranks, ${bytes(list.reduce((n, e) => n + e.bytes, 0))}`)
        : el("div", "executors", ...list.map(box))));
    if (hosts.size > SHOWN_EXECUTORS) parts.push(el("div", "host", `and ${number(hosts.size - SHOWN_EXECUTORS)} more hosts`));
    if (lost.size > 0) {
      parts.push(el("div", "host", el("div", "name", "lost with their executors"),
        el("div", "executor gone", lost.size <= CHIPS ? el("div", "ranks", ...s.lostRanks.map(chip)) : `ranks ${ranges(s.lostRanks)}`)));
    }
    return el("div", "hosts", ...parts);
  };

  /** Counts the pairs of ranks of one replica group that something has in common. */
  const pairs = (s, keyOf) => {
    const sizes = new Map();
    s.executors.forEach((e) => e.ranks.forEach((rank) => {
      const key = `${Math.floor(rank / s.width)} ${keyOf(e)}`;
      sizes.set(key, (sizes.get(key) || 0) + 1);
    }));
    return [...sizes.values()].reduce((sum, n) => sum + (n * (n - 1)) / 2, 0);
  };

  const links = (s) => {
    const own = pairs(s, (e) => `executor ${e.executorId}`);
    const same = pairs(s, (e) => `host ${e.host}`) - own;
    const other = pairs(s, () => "") - own - same;
    const line = (classes, n, name, how) => el("div", "link", el("span", `swatch ${classes}`),
      el("span", "", `${count(n, "pair", "pairs")} of ranks ${name}: ${how}`));
    const isDirect = s.backing === "direct";
    const ways = !s.isShortcut
      ? [s.transport, s.transport]
      : ["the memory of the process", isDirect
        ? `${s.transport}, because direct memory cannot be mapped by others`
        : `mapped memory (${s.backing}); the transport, where the processes do not see the same files`];
    return el("div", "links",
      el("div", "bar", s.width < s.ranks ? `Ranks read inside their replica group of ${count(s.width, "rank", "ranks")}.` : ""),
      line("own", own, "in one executor", ways[0]),
      line("same", same, "in two executors of a host", ways[1]),
      line("remote", other, "on two hosts", s.transport));
  };

  const executors = (data) => {
    const s = data.store;
    const rowsOf = (e, p) => e.readers.reduce((n, r) => n + (r.reads[p] ? r.reads[p].rows : 0), 0);
    const p99 = (e) => {
      const timed = e.readers.filter((r) => r.latency.counts.some((n) => n > 0)).map((r) => r.latency.p99Micros);
      return timed.length === 0 ? "" : timed.includes(null) ? "> 4.3 s" : `≤ ${duration(Math.max(...timed) / 1000)}`;
    };
    const shown = s.executors.slice(0, 256);
    const rest = s.executors.length - shown.length + (s.executorsOmitted || 0);
    return el("div", "", table(
      ["Executor", "Host", "Ranks", "#Rows held", "#Bytes held", "#Read: own process", "#same host",
        "#other hosts", "#Batch, 99 %", "#Requests served", "#Last report"],
      shown.map((e) => [e.executorId, e.host, ranges(e.ranks), number(e.rows), bytes(e.bytes),
        ...PATHS.map((_, p) => number(rowsOf(e, p))), p99(e),
        number(e.servedRequests), e.answeredMs > 0 ? `${duration(Math.max(1, data.nowMs - e.answeredMs))} ago` : "none yet"])),
    ...(rest > 0 ? [el("p", "", `and ${number(rest)} more executors`)] : []));
  };

  const outside = (s) => {
    const labels = new Map(s.grants.map((g) => [g.label, { grant: g, channels: 0, requests: 0, rows: 0, bytes: 0 }]));
    s.executors.forEach((e) => e.outside.forEach((o) => {
      const sum = labels.get(o.label) || { channels: 0, requests: 0, rows: 0, bytes: 0 };
      ["channels", "requests", "rows", "bytes"].forEach((part) => (sum[part] += o[part]));
      labels.set(o.label, sum);
    }));
    if (labels.size === 0) return [];
    const state = (g) => (!g ? "" : g.isRevoked ? "revoked"
      : g.expiresMs ? `until ${new Date(g.expiresMs).toLocaleString("en-GB")}` : "until the store ends");
    return [el("h4", "", "Outside readers"),
      table(["Grant", "State", "#Connections", "#Requests", "#Rows", "#Bytes"],
        [...labels].map(([label, o]) => [label, state(o.grant), number(o.channels), number(o.requests), number(o.rows), bytes(o.bytes)])),
      el("p", "bar", "Rows that readers of the same host read from mapped memory are not counted.")];
  };

  // --- refresh ------------------------------------------------------------------------------------

  let timer = 0;
  const refresh = async () => {
    clearTimeout(timer);
    const hash = location.hash;
    try {
      const name = decodeURIComponent(hash.slice(1));
      const response = await fetch(name ? `api/store?name=${encodeURIComponent(name)}` : "api/stores");
      if (hash !== location.hash) return; // another page is on its way
      if (response.status === 404 && name) {
        const back = el("a", "", "all stores");
        back.href = "#";
        root.replaceChildren(el("p", "", `Store "${name}" is not in memory. `, back));
      } else if (!response.ok) {
        throw new Error(`status ${response.status}`);
      } else {
        const data = await response.json();
        if (hash !== location.hash) return;
        (name ? showStore : showOverview)(data);
        root.dataset.shown = String(Number(root.dataset.shown || 0) + 1);
        if (!data.isLive) return;
      }
    } catch (e) {
      let note = root.querySelector(".unreachable");
      if (!note) root.prepend((note = el("p", "bad unreachable", "")));
      note.textContent = `The page could not be refreshed (${e.message}): the figures below are old.`;
    }
    timer = setTimeout(refresh, REFRESH_MS);
  };
  addEventListener("hashchange", refresh);
  document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : refresh()));
  refresh();
})();
