#!/usr/bin/env python3
"""Tests scripts/openapi.py: what a call inherits, and the messages about faulty parts.

usage: scripts/openapi_test.py

DocumentTests also runs it.
"""
import copy
import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import openapi

SHARED = {
    "openapi": "3.1.0", "info": {"title": "Test"}, "servers": [], "securitySchemes": {},
    "kinds": {"write": {"about": "Writes.", "x-body-limit": 64, "security": [{"key": []}], "parameters": ["key"],
                        "responses": {"400": "Bad", "500": "Broken"}}},
    "answers": {"success": {"headers": ["Cache", "...", "Clock"]},
                "problem": {"headers": ["...", "Clock"], "content": {"application/problem+json": {"schema": {"$ref": "Id"}}}}},
    "parameters": {"key": {"name": "key"}},
    "headers": {"Cache": {}, "Clock": {}, "Place": {}},
    "responses": {"Bad": {"description": "Bad.", "x-codes": ["bad"]}, "Broken": {"description": "Broken.", "x-codes": ["broken"]}},
    "schemas": {"Id": {"type": "string"}},
}
GRANTS = {
    "order": 20, "tag": "Grants", "description": "What an admin gives.",
    "calls": {"POST /grants": {
        "operationId": "give", "kind": "write", "summary": "Give", "parameters": ["who"], "body": "NewGrant",
        "responses": {"201": {"description": "Given.", "headers": ["Place"], "schema": "Id"},
                      "400": {"like": "Bad", "description": "Too long.", "x-codes": ["long"]}, "500": None}}},
    "parameters": {"who": {"name": "who", "schema": {"$ref": "Id"}}},
    "schemas": {"NewGrant": {"type": "object", "properties": {"id": {"$ref": "Id", "description": "Its id."}}}},
}
MOVES = {
    "order": 10, "tag": "Moves", "description": "From one to another.",
    "calls": {"POST /moves": {"operationId": "move", "kind": "write", "summary": "Move", "responses": {}}},
}


def join(**parts):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part, value in {"shared": SHARED, "grants": GRANTS, "moves": MOVES, **parts}.items():
            text = value if isinstance(value, str) else json.dumps(value)
            (folder / f"{part}.json").write_text(text, encoding="utf-8")
        return openapi.join(folder)


def changed(part, *path, to):
    """Returns the part with a different value at the end of the path."""
    part = copy.deepcopy(part)
    inner = part
    for name in path[:-1]:
        inner = inner.setdefault(name, {})
    inner[path[-1]] = to
    return part


class Joining(unittest.TestCase):
    def test_inheritance(self):
        def named(kind, name):
            return {"$ref": f"#/components/{kind}/{name}"}

        document = json.loads(join())
        self.assertEqual(document["tags"], [{"name": "Moves", "description": "From one to another."},
                                            {"name": "Grants", "description": "What an admin gives."}])
        self.assertEqual(list(document["paths"]), ["/moves", "/grants"])
        self.assertEqual(list(document["components"]["schemas"]), ["Id", "NewGrant"])
        id_property = {**named("schemas", "Id"), "description": "Its id."}
        self.assertEqual(document["components"]["schemas"]["NewGrant"]["properties"]["id"], id_property)
        place, cache, clock = ({name: named("headers", name)} for name in ["Place", "Cache", "Clock"])
        self.assertEqual(document["paths"]["/grants"]["post"], {
            "operationId": "give", "tags": ["Grants"], "summary": "Give", "x-body-limit": 64, "security": [{"key": []}],
            "parameters": [named("parameters", "who"), named("parameters", "key")],
            "requestBody": {"required": True, "content": {"application/json": {"schema": named("schemas", "NewGrant")}}},
            "responses": {
                "201": {"description": "Given.", "headers": {**cache, **place, **clock},
                        "content": {"application/json": {"schema": named("schemas", "Id")}}},
                "400": {"description": "Too long.", "x-codes": ["bad", "long"], "headers": clock,
                        "content": {"application/problem+json": {"schema": named("schemas", "Id")}}}}})
        self.assertEqual(document["paths"]["/moves"]["post"]["responses"],
                         {"400": named("responses", "Bad"), "500": named("responses", "Broken")})

    def test_mistakes(self):
        call = ("calls", "POST /grants")
        for sentence, parts in [
            ("grants.json: line 1 is not JSON: Expecting value.", {"grants": "grants"}),
            ("grants.json: `tag` is there twice in one object.", {"grants": '{"tag": "A", "tag": "B"}'}),
            ("grants.json: `order` is missing.", {"grants": {"tag": "Grants"}}),
            ("grants.json: there is no member `paths`; there are order, tag, description, calls, webhooks, parameters, headers, responses, "
             "schemas.", {"grants": changed(GRANTS, "paths", to={})}),
            ("grants.json: no part of tag Grants has its description.", {"grants": {"order": 1, "tag": "Grants"}}),
            ("more.json: the description of tag Grants is in grants.json already.",
             {"more": {"order": 30, "tag": "Grants", "description": "Again."}}),
            ("grants.json: GRANT /grants is not a method and a path, as in GET /v1/products.",
             {"grants": changed(GRANTS, "calls", "GRANT /grants", to={})}),
            ("more.json: POST /grants is in grants.json already.",
             {"more": {"order": 30, "tag": "Grants", "calls": GRANTS["calls"]}}),
            ("more.json: operationId give is in grants.json already.",
             {"more": {"order": 30, "tag": "Grants", "calls": {"PUT /grants": GRANTS["calls"]["POST /grants"]}}}),
            ("grants.json: POST /grants: `summary` is missing.",
             {"grants": changed(GRANTS, *call, to={"operationId": "give", "kind": "write"})}),
            ("grants.json: POST /grants: there is no kind `read`; there are write.",
             {"grants": changed(GRANTS, *call, "kind", to="read")}),
            ("grants.json: POST /grants: there is no parameter whom.",
             {"grants": changed(GRANTS, *call, "parameters", to=["whom"])}),
            ("grants.json: POST /grants: there is no schema OldGrant.", {"grants": changed(GRANTS, *call, "body", to="OldGrant")}),
            ("grants.json: POST /grants: 409: there is no response Taken.",
             {"grants": changed(GRANTS, *call, "responses", "409", to="Taken")}),
            ("grants.json: POST /grants: 409: `description` is missing.",
             {"grants": changed(GRANTS, *call, "responses", "409", to={"x-codes": ["taken"]})}),
            ("grants.json: POST /grants: 201: there is no header Price.",
             {"grants": changed(GRANTS, *call, "responses", "201", "headers", to=["Price"])}),
            ("grants.json: POST /grants: it takes 409 away, which `write` does not have.",
             {"grants": changed(GRANTS, *call, "responses", "409", to=None)}),
            ("grants.json: schema NewGrant: there is no schema Ticket.",
             {"grants": changed(GRANTS, "schemas", "NewGrant", "properties", "ticket", to={"$ref": "Ticket"})}),
            ("grants.json: schema Id is in shared.json already.", {"grants": changed(GRANTS, "schemas", "Id", to={})}),
            ("grants.json: no call uses the schema Ticket.", {"grants": changed(GRANTS, "schemas", "Ticket", to={})}),
            ("shared.json: there is no member `tags`; there are openapi, info, servers, securitySchemes, kinds, answers, parameters, "
             "headers, responses, schemas.", {"shared": changed(SHARED, "tags", to=[])}),
        ]:
            with self.subTest(sentence):
                with self.assertRaises(openapi.Wrong) as raised:
                    join(**parts)
                self.assertEqual(str(raised.exception), sentence)

    def test_layout(self):
        text = join()
        self.assertIn('\n  "servers": [],\n', text)
        self.assertEqual(text, join())
        self.assertEqual(json.loads(text)["info"], {"title": "Test"})


if __name__ == "__main__":
    unittest.main()
