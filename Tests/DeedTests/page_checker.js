// Checks a page for people who do not use eyes and a mouse. The last function, `contrast`, is
// called once for each theme.

const findings = [];
const say = (sentence) => findings.push(sentence);
const brief = (element) =>
    `<${element.tagName.toLowerCase()}${element.id ? ` id=${element.id}` : ""}> "${(element.textContent || "").trim().slice(0, 40)}"`;
const isShown = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });

function parse(color) {
    const numbers = color.match(/[\d.]+/g).map(Number);
    return { red: numbers[0], green: numbers[1], blue: numbers[2], alpha: numbers.length > 3 ? numbers[3] : 1 };
}

function over(front, back) {
    const mix = (one, other) => one * front.alpha + other * (1 - front.alpha);
    return { red: mix(front.red, back.red), green: mix(front.green, back.green), blue: mix(front.blue, back.blue), alpha: 1 };
}

function luminance(color) {
    const part = (value) => {
        const share = value / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * part(color.red) + 0.7152 * part(color.green) + 0.0722 * part(color.blue);
}

function ground(element) {
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
        const color = parse(getComputedStyle(one).backgroundColor);
        layers.push(color);
        if (color.alpha === 1) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), { red: 255, green: 255, blue: 255, alpha: 1 });
}

function ratio(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((first, second) => first - second);
    return (high + 0.05) / (low + 0.05);
}

/** Texts that differ too little from what is behind them, by WCAG AA. */
function contrast() {
    const found = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
        const element = text.parentElement;
        if (!text.data.trim() || !isShown(element) || element.closest("svg")) continue;
        const style = getComputedStyle(element);
        const size = parseFloat(style.fontSize);
        const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
        const behind = ground(element);
        const found_ = ratio(over(parse(style.color), behind), behind);
        if (found_ < (isLarge ? 3 : 4.5)) found.add(`the contrast of ${brief(element)} is ${found_.toFixed(2)}`);
    }
    for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea, button")) {
        if (!isShown(field)) continue;
        const style = getComputedStyle(field);
        const edge = over(parse(style.borderTopColor), ground(field.parentElement));
        const inside = over(parse(style.backgroundColor), ground(field.parentElement));
        const best = Math.max(ratio(edge, ground(field.parentElement)), ratio(inside, ground(field.parentElement)));
        if (field.type !== "range" && !field.classList.contains("quiet") && best < 3) {
            found.add(`one hardly sees where ${brief(field)} begins: ${best.toFixed(2)}`);
        }
    }
    for (const shape of document.querySelectorAll("svg .bar, svg .moment, svg .mark")) {
        const style = getComputedStyle(shape);
        const paints = [style.fill, style.stroke].filter((paint) => paint !== "none");
        const best = Math.max(...paints.map((paint) => ratio(parse(paint), ground(shape.closest("svg")))));
        if (best < 3) found.add(`one hardly sees a drawn ${shape.getAttribute("class")}: ${best.toFixed(2)}`);
    }
    return [...found];
}

if (!document.documentElement.lang) say("the page has no language");
if (!document.title.trim()) say("the page has no title");
if (document.querySelectorAll("main").length !== 1) say("the page has not one main part");

const headings = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(isShown);
if (headings.filter((heading) => heading.tagName === "H1").length !== 1) say("the page has not one h1");
headings.reduce((before, heading) => {
    const level = Number(heading.tagName[1]);
    if (level > before + 1) say(`${brief(heading)} skips a level of headings`);
    return level;
}, 0);

const ids = new Set();
for (const element of document.querySelectorAll("[id]")) {
    if (ids.has(element.id)) say(`the id "${element.id}" occurs twice`);
    ids.add(element.id);
}
for (const name of ["for", "aria-labelledby", "aria-describedby", "aria-controls"]) {
    for (const element of document.querySelectorAll(`[${name}]`)) {
        const named = name === "for" ? [element.getAttribute(name)] : element.getAttribute(name).split(/\s+/);
        for (const id of named) if (!document.getElementById(id)) say(`${name} of ${brief(element)} names nothing: ${id}`);
    }
}
for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    const hasName = field.labels.length > 0 || field.ariaLabel || field.getAttribute("aria-labelledby");
    if (!hasName) say(`the field "${field.name}" has no label`);
}
for (const table of document.querySelectorAll("table")) {
    for (const head of table.querySelectorAll("th")) if (!head.scope) say(`${brief(head)} heads neither a row nor a column`);
    if (!table.querySelector("thead th")) say("a table has no heads");
}
for (const image of document.querySelectorAll("img, svg")) {
    if (!image.getAttribute("alt") && !image.getAttribute("aria-label") && !image.getAttribute("aria-hidden")) say(`${brief(image)} has no name`);
}
for (const link of document.querySelectorAll("a:not([href])")) say(`${brief(link)} leads nowhere`);
const regions = [...document.querySelectorAll("nav, section, form[role]")].map((part) => part.ariaLabel || part.getAttribute("aria-labelledby") || part.getAttribute("role"));
if (new Set(regions).size !== regions.length) say(`two parts of the page have one name: ${regions.join(", ")}`);
for (const element of document.querySelectorAll("[style], script:not([src])")) say(`${brief(element)} is written in line`);

return findings;
