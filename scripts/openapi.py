"""Joins the parts in Sources/COpenAPI/parts into the API's description, Sources/COpenAPI/openapi.json.

A part is a feature: its calls, and their parameters, headers, responses and schemas.
Parts are sorted by `order`, then by name; one part of each `tag` has its `description`.

- The name of a call is "GET /v1/…". Its `kind` is one of `kinds` in shared.json, which supplies everything
  that the call itself does not state. The kind's parameters come after the call's. Each status is separate:
  null removes the kind's answer.
- A parameter or an answer that is a word refers to the one with that name, in any part.
- `"body": "NewGrant"` is a required body of that schema.
- A written-out answer also has the members of `answers` in shared.json: `problem` if it has `x-codes`,
  otherwise `success`. Its own `headers`, by name, replace `...`. `schema` is the schema of its JSON.
- An answer with `like` is the response of that name with another description and more codes.
- `{"$ref": "Grant"}` is the schema Grant, in any part.
- `"enum": "docs/events.md"` lists the types of events that this page shows to callers.

A part may also contain full OpenAPI: headers as an object, `content`, `requestBody`.
"""
import json
import pathlib

import events

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "Sources/COpenAPI"
METHODS = ["get", "post", "put", "patch", "delete"]
COMPONENTS = ["parameters", "headers", "responses", "schemas"]
PART = ["order", "tag", "description", "calls", "webhooks", *COMPONENTS]
SHARED = ["openapi", "info", "servers", "securitySchemes", "kinds", "answers", *COMPONENTS]
KIND = ["about", "x-body-limit", "security", "parameters", "responses"]
# The members in the order in which the description lists them.
CALL = ["operationId", "tags", "summary", "description", "x-body-limit", "security", "x-roles", "parameters",
        "requestBody", "responses"]
ANSWER = ["description", "x-codes", "headers", "content", "links", "x-evidence-codes"]


class Wrong(Exception):
    """A fault in a part, as a sentence that begins with its file."""


def read(path):
    def members(pairs):
        found = {}
        for name, value in pairs:
            if name in found:
                raise Wrong(f"{path.name}: `{name}` is there twice in one object.")
            found[name] = value
        return found

    try:
        return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=members)
    except json.JSONDecodeError as error:
        raise Wrong(f"{path.name}: line {error.lineno} is not JSON: {error.msg}.") from None


def check(where, value, allowed, needed=()):
    """Refuses an object with other members than these, or without a required member."""
    if not isinstance(value, dict):
        raise Wrong(f"{where}: this has to be an object.")
    for name in value:
        if name not in allowed:
            raise Wrong(f"{where}: there is no member `{name}`; there are {', '.join(allowed)}.")
    for name in needed:
        if name not in value:
            raise Wrong(f"{where}: `{name}` is missing.")


class Document:
    def __init__(self, folder):
        shared = read(folder / "shared.json")
        check("shared.json", shared, SHARED, SHARED[:6])
        for name, kind in shared["kinds"].items():
            check(f"shared.json: kind {name}", kind, KIND, KIND[:3])
        self.kinds, self.answers = shared["kinds"], shared["answers"]
        parts = {path.name: read(path) for path in folder.glob("*.json") if path.name != "shared.json"}
        for file, part in parts.items():
            check(file, part, PART, PART[:2])
        self.parts = sorted(parts.items(), key=lambda one: (one[1]["order"], one[0]))
        self.named = {group: {} for group in COMPONENTS}
        self.files = {}
        for file, part in [("shared.json", shared), *self.parts]:
            for group in COMPONENTS:
                for name, value in part.get(group, {}).items():
                    self.once(file, f"{group[:-1]} {name}")
                    self.named[group][name] = value
        paths = self.paths()
        self.document = {
            **{name: shared[name] for name in ["openapi", "info", "servers"]}, "tags": self.tags(), "paths": paths,
            "webhooks": self.webhooks(),
            "components": {"securitySchemes": shared["securitySchemes"], **self.components()}}
        self.expect_use()

    def once(self, file, what):
        if what in self.files:
            raise Wrong(f"{file}: {what} is in {self.files[what]} already.")
        self.files[what] = file

    def ref(self, where, group, name):
        if name not in self.named.get(group, {}):
            raise Wrong(f"{where}: there is no {group[:-1]} {name}.")
        return {"$ref": f"#/components/{group}/{name}"}

    def refs(self, where, value):
        """Returns the value with the full address of each named schema."""
        if isinstance(value, list):
            return [self.refs(where, one) for one in value]
        if not isinstance(value, dict):
            return value
        value = {name: self.refs(where, one) for name, one in value.items()}
        if value.get("enum") == events.PAGE:
            value["enum"] = list(events.shown())
        if isinstance(value.get("$ref"), str):
            group, name = (["schemas"] + value["$ref"].removeprefix("#/components/").split("/"))[-2:]
            value.update(self.ref(where, group, name))
        return value

    def tags(self):
        tags = dict.fromkeys(part["tag"] for _, part in self.parts)
        for file, part in self.parts:
            if "description" in part:
                self.once(file, f"the description of tag {part['tag']}")
                tags[part["tag"]] = part["description"]
        for file, part in self.parts:
            if tags[part["tag"]] is None:
                raise Wrong(f"{file}: no part of tag {part['tag']} has its description.")
        return [{"name": name, "description": text} for name, text in tags.items()]

    def paths(self):
        paths = {}
        for file, part in self.parts:
            for name, call in part.get("calls", {}).items():
                self.once(file, name)
                method, _, path = name.partition(" ")
                if method.lower() not in METHODS or not path.startswith("/"):
                    raise Wrong(f"{file}: {name} is not a method and a path, as in GET /v1/products.")
                paths.setdefault(path, {})[method.lower()] = self.call(file, name, part["tag"], call)
        return paths

    def webhooks(self):
        """Returns the requests that Deed itself sends, in full."""
        return {name: self.refs(f"{file}: {name}", value)
                for file, part in self.parts for name, value in part.get("webhooks", {}).items()}

    def call(self, file, name, tag, call):
        where = f"{file}: {name}"
        allowed = ["kind", "body", *(member for member in CALL if member != "tags")]
        check(where, call, allowed, ["kind", "operationId", "summary", "responses"])
        self.once(file, f"operationId {call['operationId']}")
        kind = self.kinds.get(call["kind"])
        if kind is None:
            raise Wrong(f"{where}: there is no kind `{call['kind']}`; there are {', '.join(self.kinds)}.")
        whole = {**kind, **call, "tags": [tag]}
        parameters = call.get("parameters", []) + kind.get("parameters", [])
        if parameters:
            whole["parameters"] = [self.ref(where, "parameters", one) if isinstance(one, str) else self.refs(where, one)
                                   for one in parameters]
        if "body" in call:
            schema = self.ref(where, "schemas", call["body"])
            whole["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
        elif "requestBody" in call:
            whole["requestBody"] = self.refs(where, call["requestBody"])
        responses = {**kind.get("responses", {}), **call["responses"]}
        for status in [status for status, answer in responses.items() if answer is None]:
            if status not in kind.get("responses", {}):
                raise Wrong(f"{where}: it takes {status} away, which `{call['kind']}` does not have.")
            del responses[status]
        whole["responses"] = {status: self.answer(f"{where}: {status}", responses[status])
                              for status in sorted(responses)}
        return {member: whole[member] for member in CALL if member in whole}

    def answer(self, where, answer):
        if isinstance(answer, str):
            return self.ref(where, "responses", answer)
        check(where, answer, ["like", "schema", "example", *ANSWER])
        if "like" in answer:
            self.ref(where, "responses", answer["like"])
            like = self.named["responses"][answer["like"]]
            answer = {**like, **answer, "x-codes": like.get("x-codes", []) + answer.get("x-codes", [])}
        check(where, answer, answer, ["description"])
        usual = self.answers["problem" if "x-codes" in answer else "success"]
        whole = {"content": usual["content"]} if "content" in usual else {}
        whole.update(answer)
        if not isinstance(answer.get("headers"), dict):
            at = usual["headers"].index("...")
            names = usual["headers"][:at] + answer.get("headers", []) + usual["headers"][at + 1:]
            whole["headers"] = {name: self.ref(where, "headers", name) for name in names}
        if "schema" in answer:
            schema = answer["schema"]
            json_content = {"schema": {"$ref": schema} if isinstance(schema, str) else schema}
            if "example" in answer:
                json_content["example"] = answer["example"]
            whole["content"] = {"application/json": json_content}
        return self.refs(where, {member: whole[member] for member in ANSWER if member in whole})

    def components(self):
        def whole(group, name, value):
            where = f"{self.files[f'{group[:-1]} {name}']}: {group[:-1]} {name}"
            return self.answer(where, value) if group == "responses" else self.refs(where, value)

        return {group: {name: whole(group, name, value) for name, value in self.named[group].items()} for group in COMPONENTS}

    def expect_use(self):
        """Refuses a part of `components` that no call uses."""
        used, rest = set(), [self.document["paths"], self.document["webhooks"]]
        while rest:
            value = rest.pop()
            rest.extend(value.values() if isinstance(value, dict) else value if isinstance(value, list) else [])
            place = value.get("$ref") if isinstance(value, dict) else None
            if isinstance(place, str) and place not in used:
                used.add(place)
                group, name = place.split("/")[-2:]
                rest.append(self.document["components"][group][name])
        for group in COMPONENTS:
            for name in self.named[group]:
                if f"#/components/{group}/{name}" not in used:
                    raise Wrong(f"{self.files[f'{group[:-1]} {name}']}: no call uses the {group[:-1]} {name}.")


# Objects with one line per member if they do not fit on one line. `*` stands for any other name.
OPEN = {"info": {}, "tags": {}, "paths": {"*": {"*": {"responses": {}}}},
        "components": {"schemas": {"*": {"properties": {}}}, "*": {}}}
WIDTH = 160


def lay_out(value, open_members=OPEN, indent=0, used=0):
    line = json.dumps(value, ensure_ascii=False)
    if open_members is None or not value or indent + used + len(line) < WIDTH:
        return line
    space = " " * (indent + 2)
    lines = []
    for name, one in value.items() if isinstance(value, dict) else [(None, one) for one in value]:
        head = f"{json.dumps(name, ensure_ascii=False)}: " if name is not None else ""
        inner = open_members.get(name, open_members.get("*"))
        lines.append(space + head + lay_out(one, inner, indent + 2, len(head)))
    first, last = "{}" if isinstance(value, dict) else "[]"
    return first + "\n" + ",\n".join(lines) + "\n" + " " * indent + last


def join(folder=FOLDER / "parts"):
    """Returns the text of openapi.json."""
    return lay_out(Document(folder).document) + "\n"
