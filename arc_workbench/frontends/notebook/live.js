// Draws the live view of one run and reports what a person presses.
//
// The kernel sends operations; a node is a string or [tag, attributes, ...children]. Words of a
// model only ever become text nodes: nothing here parses HTML, and only what stands in the two
// lists below reaches the page. A press counts only if a person made it: see `Presses`.

const TAGS = new Set(
  ("a b blockquote br button code dd del details div dl dt em form h3 h4 header hr i ins label li mark ol p " +
    "pre s section small span strong summary table tbody td textarea th thead tr ul").split(" "),
);
const ATTRIBUTES = new Map(
  Object.entries({
    "aria-busy": /^true$/,
    "aria-describedby": /^aw-[a-z0-9-]+$/,
    "aria-hidden": /^true$/,
    "aria-label": /^[\w ]+$/,
    "aria-labelledby": /^aw-[a-z0-9-]+$/,
    class: /^[\w -]+$/,
    colspan: /^\d$/,
    for: /^aw-[a-z0-9-]+$/,
    href: /^(#aw-|https?:\/\/|mailto:)/,
    id: /^aw-[a-z0-9-]+$/,
    open: /^$/,
    rel: /^noopener noreferrer$/,
    role: /^(group|log|status)$/,
    rows: /^\d$/,
    scope: /^(col|rowgroup)$/,
    start: /^\d+$/,
    style: /^--aw-[a-z]+:\d+(ch|%)$/,
    target: /^_blank$/,
    type: /^button$/,
  }),
);
const MAX_WORDS = 4000;

const STILL_MS = 500;
const WATCH_MS = 100;
const NO_ANSWER_MS = 5000;

// What hangs on an element without being in the page: the verb of a button, the name of a field.
const verbs = new WeakMap();
const fields = new WeakMap();
// What changes something: a key reaches these only where a person brought the focus.
const ACTS = new Set(["allow", "undo", "keep", "restore"]);
// What the person opened or shut; the rest follows the kernel.
const turned = new WeakSet();

const isButton = (node) => node instanceof HTMLButtonElement;
const buttonsOf = (node) => [...node.querySelectorAll("button")];
const promptOf = (card) =>
  buttonsOf(card)
    .map((button) => verbs.get(button)?.prompt)
    .find(Boolean);

/** Build one node; `onKey(name, element)` hears of every part that may be replaced later. */
function build(node, onKey) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, attributes, ...children] = node;
  const element = document.createElement(TAGS.has(tag) ? tag : "span");
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "key") onKey(value, element);
    else if (name === "do") verbs.set(element, value);
    else if (name === "field") fields.set(element, value);
    else if (ATTRIBUTES.get(name)?.test(value)) element.setAttribute(name, value);
  }
  if (isButton(element)) element.type = "button";
  if (tag === "textarea") element.maxLength = MAX_WORDS;
  for (const child of children) element.append(build(child, onKey));
  return element;
}

/** Presses of a person on buttons under `root`, and of nobody else.
 *
 * A mouse or finger goes down and up on one button. Enter or Space is pressed and released on one
 * button, alone, without key repeat. A trusted click with neither comes from a screen reader.
 * A key allows something only where the person brought the focus with Tab: a script in the page can
 * move it, and Enter was then meant for another button.
 */
class Presses {
  constructor(root, { isInert, onPress, onRefused }) {
    Object.assign(this, { isInert, onPress, onRefused, down: null, armed: null });
    Object.assign(this, { tabbing: false, brought: null });
    for (const type of ["pointerdown", "click", "keydown", "keyup", "focusin", "focusout"]) {
      root.addEventListener(type, (event) => this[type](event));
    }
    root.addEventListener("submit", (event) => event.preventDefault());
  }

  pointerdown(event) {
    const button = event.target.closest("button");
    this.down = event.isTrusted && button && !this.isInert(button) ? button : null;
  }

  click(event) {
    const button = event.target.closest("button");
    if (!button) return;
    const down = this.down;
    this.down = null;
    const byPointer = event.detail > 0;
    if (!event.isTrusted || (byPointer && down !== button) || this.isInert(button)) {
      this.onRefused(button, event.isTrusted);
    } else {
      this.onPress(button);
    }
  }

  keydown(event) {
    if (!isButton(event.target) || !isPressKey(event.key)) return;
    event.preventDefault();
    const alone = !(event.ctrlKey || event.metaKey || event.altKey || event.shiftKey);
    const meant = !ACTS.has(verbs.get(event.target)?.do) || this.brought === event.target;
    const good = event.isTrusted && alone && meant && !event.repeat && !this.isInert(event.target);
    this.armed = good ? { button: event.target, key: event.key } : null;
    if (!good && !event.repeat) this.onRefused(event.target, event.isTrusted);
  }

  keyup(event) {
    if (!isButton(event.target) || !isPressKey(event.key)) return;
    event.preventDefault();
    const { armed } = this;
    this.armed = null;
    if (event.isTrusted && armed?.button === event.target && armed.key === event.key) {
      this.onPress(event.target);
    }
  }

  focusin({ target }) {
    this.brought = this.tabbing ? target : null;
  }

  focusout() {
    this.armed = null;
  }
}

const isPressKey = (key) => key === "Enter" || key === " ";

/** The open questions of one view: where they stand, since when, and who had the focus before. */
class Cards {
  constructor(root, announce) {
    Object.assign(this, { root, announce, known: new Map(), before: null, timer: 0 });
    root.addEventListener("focusin", ({ target, relatedTarget }) => {
      const comesFromOutside = relatedTarget && !root.contains(relatedTarget);
      if (comesFromOutside && target.closest(".aw-ask")) this.before = relatedTarget;
    });
  }

  /** Take note of what came and went since the last drawing. */
  look() {
    const open = new Map();
    for (const card of this.root.querySelectorAll(".aw-ask")) {
      const prompt = promptOf(card);
      if (prompt) open.set(prompt, card);
    }
    for (const prompt of this.known.keys()) if (!open.has(prompt)) this.known.delete(prompt);
    for (const [prompt, card] of open) {
      const known = this.known.get(prompt);
      if (known?.card !== card) this.appear(prompt, card, known === undefined);
    }
    if (open.size === 0) this.giveFocusBack();
    clearInterval(this.timer);
    if (open.size > 0) this.timer = setInterval(() => this.watch(), WATCH_MS);
  }

  appear(prompt, card, isNew) {
    const { top, left } = card.getBoundingClientRect();
    this.known.set(prompt, { card, since: performance.now(), moved: 0, top, left });
    card.classList.add("aw-ask--moving");
    if (!isNew) return;
    if (this.isBusy()) {
      this.announce(card.querySelector(".aw-ask__title")?.textContent ?? "A question is open.");
      return;
    }
    card.scrollIntoView({ block: "nearest" });
    const deny = buttonsOf(card).find((button) => verbs.get(button)?.do === "deny");
    deny?.focus({ preventScroll: true });
    // What we scrolled ourselves is no move.
    Object.assign(this.known.get(prompt), placeOf(card));
  }

  /** The person types, answers another question, or looks at another place: leave the focus. */
  isBusy() {
    const active = document.activeElement;
    const edits = active?.isContentEditable || active?.matches("input, textarea, select, iframe");
    if (edits || this.root.contains(active)) return true;
    const { top, bottom } = this.root.getBoundingClientRect();
    return bottom < 0 || top > window.innerHeight;
  }

  giveFocusBack() {
    const before = this.before;
    this.before = null;
    const active = document.activeElement;
    const isLost = !active || active === document.body || this.root.contains(active);
    if (before?.isConnected && isLost) before.focus({ preventScroll: true });
  }

  watch() {
    for (const known of this.known.values()) this.measure(known);
  }

  measure(known) {
    const { top, left } = placeOf(known.card);
    if (Math.abs(top - known.top) > 1 || Math.abs(left - known.left) > 1) {
      Object.assign(known, { top, left, moved: performance.now() });
    }
    const still = performance.now() - Math.max(known.since, known.moved) >= STILL_MS;
    known.card.classList.toggle("aw-ask--moving", !still);
    return still;
  }

  isInert(button) {
    const card = button.closest(".aw-ask");
    const known = card && this.known.get(promptOf(card));
    return Boolean(known) && !this.measure(known);
  }

  stop() {
    clearInterval(this.timer);
  }
}

function placeOf(card) {
  const { top, left } = card.getBoundingClientRect();
  return { top, left };
}

/** What a person did to a part that is about to be drawn again. */
function remember(old) {
  const of = (selector, read) =>
    [...old.querySelectorAll(selector)].map((element) => [nameOf(element), read(element)]);
  const focused = old.contains(document.activeElement) ? nameOf(document.activeElement) : "";
  return {
    focused: focused && `${focused}|${document.activeElement.textContent}`,
    opened: of("details", (element) => (turned.has(element) ? element.open : null)),
    scrolled: of("pre", (element) => ({ top: element.scrollTop, atEnd: isAtEnd(element) })),
    typed: of("textarea", (element) => element.value),
  };
}

function restore(fresh, kept) {
  const again = (selector, values, apply) => {
    const left = new Map(values);
    for (const element of fresh.querySelectorAll(selector)) {
      const name = nameOf(element);
      if (left.has(name)) apply(element, left.get(name));
      left.delete(name);
    }
  };
  again("details", kept.opened, (element, open) => {
    if (open === null) return;
    element.open = open;
    turned.add(element);
  });
  again("pre", kept.scrolled, (element, { top, atEnd }) => {
    element.scrollTop = atEnd && element.role === "log" ? element.scrollHeight : top;
  });
  again("textarea", kept.typed, (element, value) => (element.value = value));
  const same = (element) => `${nameOf(element)}|${element.textContent}` === kept.focused;
  const focused = kept.focused && [...fresh.querySelectorAll("button, summary, textarea, a")].find(same);
  if (focused) focused.focus({ preventScroll: true });
}

const nameOf = (element) => `${element.tagName}.${element.className}`;
const isAtEnd = (element) => element.scrollTop + element.clientHeight >= element.scrollHeight - 4;

/** Nothing below `place` can be pressed or filled in any more. */
function disable(place) {
  for (const control of place.querySelectorAll("button, textarea")) control.disabled = true;
  for (const form of place.querySelectorAll(".aw-ask details")) {
    form.inert = true;
    form.style.opacity = "0.5";
  }
}

/** A job ends with its kernel, and nobody is left to say how: its card must not say that it runs. */
function endWithKernel(job) {
  const mark = job.querySelector(".aw-mark--running");
  if (!mark) return;
  mark.classList.replace("aw-mark--running", "aw-mark--aborted");
  const title = job.querySelector(".aw-job__state");
  if (title) title.textContent = title.textContent.replace(/, .*/s, ", ended with its kernel");
  for (const button of job.querySelectorAll("button")) button.remove();
}

/** Names this page load, and this view in it. */
function nameOfPlace() {
  const load = Math.round(performance.timeOrigin * 10).toString(36);
  return `${load}-${Math.random().toString(36).slice(2, 12)}`;
}

function clock(seconds) {
  const two = (figure) => String(figure).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** One drawing of one run in one place of one page. */
class View {
  constructor(model, el) {
    this.model = model;
    this.page = nameOfPlace();
    this.keys = new Map();
    this.codes = new Map();
    this.isLive = true;
    // The last button that was pressed outside a question: its place gets the focus back.
    this.pressed = null;
    this.started = null;
    this.root = document.createElement("div");
    this.status = build(["div", { class: "aw-sr", role: "status" }], () => {});
    this.status.ariaLive = "polite";
    const aside = build(["div", { class: "aw" }], () => {});
    aside.append(this.status);
    el.append(this.root, aside);
    this.cards = new Cards(this.root, (text) => this.say(text));
    this.presses = new Presses(this.root, {
      isInert: (button) => this.cards.isInert(button),
      onPress: (button) => this.press(button),
      onRefused: (button, trusted) => trusted && this.say("The question or the focus had only just come or moved. Press again; with keys, by Tab."),
    });
    this.listen();
  }

  listen() {
    this.onMessage = (message) => this.hear(message);
    // Told when the kernel restarts or is gone; what a model has to say of it is not to be read here.
    this.onLive = () => this.die();
    this.model.on("msg:custom", this.onMessage);
    this.model.on("comm_live_update", this.onLive);
    this.model.on("comm:close", (this.onClose = () => this.die()));
    window.addEventListener("keydown", (this.onKey = (event) => this.key(event)), true);
    window.addEventListener("keyup", (this.onKeyUp = () => (this.presses.tabbing = false)), true);
    this.root.addEventListener("click", (event) => this.follow(event));
    this.root.addEventListener("toggle", (event) => this.enterForm(event.target), true);
    this.ticker = setInterval(() => this.tick(), 1000);
    this.model.send({ do: "ready", page: this.page });
    this.patience = setTimeout(() => this.giveUp(), NO_ANSWER_MS);
  }

  stop() {
    this.model.off("msg:custom", this.onMessage);
    this.model.off("comm_live_update", this.onLive);
    this.model.off("comm:close", this.onClose);
    window.removeEventListener("keydown", this.onKey, true);
    window.removeEventListener("keyup", this.onKeyUp, true);
    clearInterval(this.ticker);
    clearTimeout(this.patience);
    this.cards.stop();
  }

  // ---- what the kernel says ------------------------------------------------------------------

  hear(message) {
    if (message.page !== undefined && message.page !== this.page) return;
    for (const operation of message.ops) this.apply(operation);
    this.tick();
    this.cards.look();
  }

  apply(operation) {
    const { op, key, text } = operation;
    if (op === "all") this.drawAll(operation.tree);
    else if (op === "put") this.put(key, operation.tree, operation.into);
    else if (op === "append") this.append(key, text);
    else if (op === "clock") this.setClock(operation.elapsed);
    else if (op === "code") this.codes.set(operation.prompt, operation.code);
    else if (op === "answered") this.close(operation.prompt, text);
    else if (op === "say") this.say(text);
    else if (op === "end") this.end();
  }

  build(tree) {
    return build(tree, (key, element) => this.keys.set(key, element));
  }

  find(key) {
    const element = this.keys.get(key);
    return element && this.root.contains(element) ? element : null;
  }

  drawAll(tree) {
    this.keys.clear();
    this.root.replaceChildren(this.build(tree));
  }

  put(key, tree, into) {
    const old = this.find(key);
    if (!old) {
      this.find(into)?.append(this.build(tree));
      return;
    }
    const kept = remember(old);
    const held = this.pressed !== null && old.contains(this.pressed);
    const fresh = this.build(tree);
    old.replaceWith(fresh);
    restore(fresh, kept);
    if (held) this.giveFocusTo(fresh);
  }

  /** What was pressed is gone or new: the focus goes to the button, or to what it came to. */
  giveFocusTo(fresh) {
    this.pressed = null;
    const active = document.activeElement;
    if (active && active !== document.body && !this.root.contains(active)) return;
    const target = fresh.querySelector("button") ?? fresh;
    if (target === fresh) fresh.tabIndex = -1;
    target.focus({ preventScroll: true });
  }

  append(key, text) {
    const element = this.find(key);
    if (!element) return;
    const last = element.lastChild;
    if (last?.nodeType === Node.TEXT_NODE) last.appendData(text);
    else element.append(text);
    const log = element.closest("[role=log]");
    if (log) log.scrollTop = log.scrollHeight;
  }

  setClock(elapsed) {
    this.started = elapsed === null ? null : performance.now() - elapsed * 1000;
  }

  tick() {
    if (this.started === null) return;
    const words = clock(Math.max(0, Math.floor((performance.now() - this.started) / 1000)));
    for (const place of this.root.querySelectorAll(".aw-elapsed")) place.textContent = words;
  }

  say(text) {
    this.status.textContent = text;
  }

  // ---- what a person does --------------------------------------------------------------------

  press(button) {
    const verb = verbs.get(button);
    if (!this.isLive || button.disabled || !verb) return;
    const content = { ...verb };
    if (verb.prompt) content.nonce = this.codes.get(verb.prompt) ?? "";
    const form = button.closest("form");
    for (const field of form?.querySelectorAll("textarea") ?? []) {
      if (fields.has(field)) content[fields.get(field)] = field.value;
    }
    this.model.send(content);
    if (verb.prompt) this.close(verb.prompt);
    this.pressed = button.closest(".aw-ask, .aw-head") ? null : button;
    button.disabled = true;
    clearTimeout(this.patience);
    this.patience = setTimeout(() => this.complain(button), NO_ANSWER_MS);
  }

  /** Let the card take no further answer; say why, if there is something to say. */
  close(prompt, words) {
    const card = this.cards.known.get(prompt)?.card;
    if (!card) return;
    disable(card);
    if (words) this.note(card, words);
  }

  complain(button) {
    if (button.isConnected && this.isLive) this.note(this.root, "The kernel has not answered yet.");
  }

  /** A view that was saved and whose run is not there: say so, instead of nothing. */
  giveUp() {
    if (!this.root.hasChildNodes()) this.note(this.root, "The run that was shown here is over.");
  }

  note(place, words) {
    place.append(this.build(["p", { class: "aw aw-note", role: "status" }, words]));
  }

  key(event) {
    this.presses.tabbing = event.isTrusted && event.key === "Tab";
    if (!this.root.contains(event.target)) return;
    // Plain keys belong to the card, not to the notebook's shortcuts (`D` `D` deletes a cell).
    const alone = !(event.ctrlKey || event.metaKey || event.altKey);
    event.target.toggleAttribute("data-lm-suppress-shortcuts", alone);
    if (event.key === "Escape") this.leaveForm(event.target);
  }

  /** Esc closes a form and never answers. */
  leaveForm(target) {
    const form = target.closest(".aw-ask details[open]");
    if (!form) return;
    form.open = false;
    form.querySelector("summary")?.focus({ preventScroll: true });
  }

  /** Only the form that asks for words starts in its field. */
  enterForm(details) {
    const isByPerson = details.open && turned.has(details);
    if (isByPerson) details.querySelector(":scope > form textarea")?.focus({ preventScroll: true });
  }

  follow(event) {
    const summary = event.target.closest("summary");
    if (summary && event.isTrusted) turned.add(summary.parentElement);
    const link = event.target.closest('a[href^="#"]');
    if (!link) return;
    // Else the notebook application would take the fragment for an address of its own.
    event.preventDefault();
    const id = link.getAttribute("href").slice(1);
    this.root.querySelector(`[id="${CSS.escape(id)}"]`)?.scrollIntoView({ block: "nearest" });
  }

  // ---- the end -------------------------------------------------------------------------------

  end() {
    this.isLive = false;
    this.started = null;
    disable(this.root);
  }

  die() {
    if (!this.isLive) return;
    this.end();
    const state = this.root.querySelector(".aw-head__state");
    if (state) state.textContent = "No longer open";
    this.root.querySelectorAll(".aw-job").forEach(endWithKernel);
    this.note(this.root, "The kernel of this run has ended or restarted. Nothing runs on from here.");
  }
}

function render({ model, el }) {
  const view = new View(model, el);
  return () => view.stop();
}

export default { render };
