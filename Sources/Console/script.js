// Optional conveniences. Every page works without this file.

const keys = [["/", "to the search box"], ["?", "these keys"]];

function showKeys() {
    let dialog = document.getElementById("keys");
    if (!dialog) {
        dialog = document.createElement("dialog");
        dialog.id = "keys";
        dialog.setAttribute("aria-label", "Keys");
        const list = document.createElement("dl");
        for (const [key, words] of keys) {
            const row = document.createElement("div");
            const name = document.createElement("dt");
            const cap = document.createElement("kbd");
            cap.textContent = key;
            name.append(cap);
            const meaning = document.createElement("dd");
            meaning.textContent = words;
            row.append(name, meaning);
            list.append(row);
        }
        const form = document.createElement("form");
        form.method = "dialog";
        const button = document.createElement("button");
        button.textContent = "Close";
        form.append(button);
        dialog.append(list, form);
        document.body.append(dialog);
    }
    dialog.showModal();
}

document.addEventListener("keydown", (event) => {
    const isWriting = event.target.closest("input, select, textarea");
    if (isWriting || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") {
        const box = document.getElementById("q");
        if (!box) return;
        event.preventDefault();
        box.focus();
    } else if (event.key === "?") {
        event.preventDefault();
        showKeys();
    }
});

const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
for (const time of document.querySelectorAll("time[datetime]")) {
    const instant = new Date(time.dateTime);
    if (Number.isNaN(instant.getTime())) continue;
    const words = document.createElement("span");
    words.className = "local";
    words.textContent = ` (${local.format(instant)} here)`;
    time.after(words);
}

// Once the slider under the drawing is released, the page shows that instant.
for (const drawing of document.querySelectorAll("figure.timeline")) {
    const [start, end] = [Number(drawing.dataset.start), Number(drawing.dataset.end)];
    const box = document.createElement("p");
    box.className = "slider";
    const place = new URL(location.href);
    for (const [name, words] of [["at", "What held"], ["known", "What was known"]]) {
        const label = document.createElement("label");
        const slider = document.createElement("input");
        slider.type = "range";
        slider.id = `slide-${name}`;
        slider.min = String(start);
        slider.max = String(end);
        slider.step = String(Math.max(1, Math.round((end - start) / 500)));
        const now = place.searchParams.get(name);
        slider.value = String(now ? Date.parse(now) : Number(drawing.dataset.mark));
        label.htmlFor = slider.id;
        const say = () => {
            const instant = new Date(Number(slider.value)).toISOString();
            label.textContent = `${words}: ${instant.slice(0, 16).replace("T", " ")} UTC`;
        };
        say();
        slider.addEventListener("input", say);
        slider.addEventListener("change", () => {
            place.searchParams.set(name, new Date(Number(slider.value)).toISOString());
            location.assign(place);
        });
        box.append(label, slider);
    }
    drawing.append(box);
}

// A chosen file becomes the text of the catalog, so that a person can look at it before sending it.
const text = document.querySelector("textarea#text");
if (text) {
    const label = document.createElement("label");
    label.textContent = "From a file: ";
    const chooser = document.createElement("input");
    chooser.type = "file";
    chooser.accept = ".json,application/json";
    chooser.addEventListener("change", async () => {
        if (chooser.files.length > 0) text.value = await chooser.files[0].text();
    });
    label.append(chooser);
    text.closest("form").prepend(label);
}
