// The page is whole without this: it filters, points from facts to lines, and switches the theme.
"use strict";
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const byId = (id) => document.getElementById(id);

  // Light or dark.
  const theme = byId("theme");
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : prefersDark.matches;
  };
  const nameTheme = () => {
    theme.textContent = isDark() ? "Light" : "Dark";
  };
  theme.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });
  prefersDark.addEventListener("change", nameTheme);
  nameTheme();
  theme.hidden = false;

  // Filter. What an item is found by: its own text, and that of the source beside it.
  const form = byId("filters");
  const [text, file, name, kind] = ["text", "file", "function", "kind"].map((k) => byId("filter-" + k));
  const groups = all("[data-group]").reverse();
  const items = all(".item").map((element) => {
    const { file = "", function: name = "", kind = "" } = element.dataset;
    const article = element.closest("article");
    const step = element.closest(".step");
    const around = [
      file,
      name + "()",
      step ? step.querySelector("header").textContent : "",
      article ? all(".source", article).map((s) => s.textContent).join(" ") : "",
    ];
    const words = element.textContent + " " + around.join(" ");
    return { element, file, name, kinds: kind.split(" "), words: words.toLowerCase() };
  });
  const filter = () => {
    const wanted = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const item of items) {
      const fits =
        wanted.every((word) => item.words.includes(word)) &&
        (!file.value || item.file === file.value) &&
        (!name.value || item.name === name.value) &&
        (!kind.value || item.kinds.includes(kind.value));
      item.element.hidden = !fits;
      shown += fits;
    }
    for (const group of groups) {
      group.hidden = !group.querySelector(".item:not([hidden])");
    }
    const filtered = shown < items.length;
    byId("filter-count").textContent = filtered ? `${shown} of ${items.length} shown` : "";
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  form.hidden = items.length === 0;

  // Facts point to the lines that cause them, and these back.
  const cards = all(".card[data-lines]").filter((card) => card.dataset.lines);
  const linesOf = (card) => card.dataset.lines.split(" ").map(byId).filter(Boolean);
  const light = (chosen, from) => {
    all(".lit").forEach((element) => element.classList.remove("lit"));
    for (const card of chosen) {
      card.classList.add("lit");
      linesOf(card).forEach((line) => line.classList.add("lit"));
    }
    const [first] = chosen;
    const target = first && (from === "line" ? first : linesOf(first)[0]);
    if (target) {
      target.scrollIntoView({ block: "nearest" });
    }
  };
  const causes = new Map();
  for (const card of cards) {
    for (const line of linesOf(card)) {
      causes.set(line, (causes.get(line) || []).concat(card));
      line.dataset.cause = "";
    }
    card.addEventListener("click", (event) => {
      if (event.target.closest("summary") || String(getSelection())) {
        return;
      }
      const link = event.target.closest("a");
      if (link) {
        event.preventDefault();
        history.replaceState(null, "", link.hash);
      }
      const off = card.classList.contains("lit") && !link;
      light(off ? [] : [card], "card");
      if (link) {
        const line = byId(link.hash.slice(1));
        line.classList.add("lit");
        line.scrollIntoView({ block: "nearest" });
      }
    });
  }
  for (const [line, chosen] of causes) {
    line.addEventListener("click", () => {
      if (!String(getSelection())) {
        light(line.classList.contains("lit") ? [] : chosen, "line");
      }
    });
  }

  // Links lead into what is folded or filtered out.
  const reveal = () => {
    const target = location.hash && byId(decodeURIComponent(location.hash.slice(1)));
    if (!target) {
      return;
    }
    if (target.closest("[hidden]")) {
      form.reset();
      filter();
    }
    for (let at = target; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") {
        at.open = true;
      }
    }
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Keys: / for the filter, j and k for the next and the previous change, Escape to let go.
  let at = -1;
  addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    if (event.key === "Escape") {
      if (typing) {
        event.target.blur();
      }
      light([], "card");
    } else if (typing) {
      return;
    } else if (event.key === "/") {
      event.preventDefault();
      text.focus();
      text.select();
    } else if (event.key === "j" || event.key === "k") {
      const shown = cards.filter((card) => !card.closest("[hidden]"));
      if (shown.length) {
        at = Math.min(Math.max(at + (event.key === "j" ? 1 : -1), 0), shown.length - 1);
        light([shown[at]], "card");
        shown[at].scrollIntoView({ block: "center" });
      }
    }
  });

  // Paper cannot be unfolded.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = all("details:not([open]):not(.how)");
    folded.forEach((details) => (details.open = true));
  });
  addEventListener("afterprint", () => folded.forEach((details) => (details.open = false)));
})();
