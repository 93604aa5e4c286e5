// Comforts. Every page works without this file.

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
