"""Wrong answers that the checker has to find. A checker that finds no fault in them would prove nothing."""
import base64
import json
import threading

from clients import Client, Customer, Evidence, differences


def unnoticed():
    """Returns the wrong answers that the checker accepts, and the right history if the checker refuses it."""
    missed = [name for name, events in HISTORIES.items() if not list(differences(known(), events))]
    if list(differences(known(), RIGHT)):
        missed.append("nothing that is right")
    for name, (act, answer) in ANSWERS.items():
        client = Client(0, 7, [], "key", Evidence([SIGNED]), threading.Event(), threading.Event(), rest=0, long=0)
        client.connections.send = lambda *words, given=answer, **more: given
        act(client, known())
        if not client.findings:
            missed.append(name)
    return missed


def known():
    """Returns a customer with one answered grant, one answered change of a balance and one answered purchase."""
    customer = Customer("c")
    customer.change("g1", "pro", True)
    customer.earlier.clear()
    customer.balance = 5
    customer.answered = {"m1": "grant.given", "m2": "balance.adjusted", "t1": "purchase.made"}
    customer.purchases = {"t1"}
    customer.sent = {"m1", "m2", "m3", "t1"}
    customer.positions = {"production": "1:7", "sandbox": "2:7"}
    return customer


def happened(kind, **data):
    return {"type": kind, "version": 1, "data": data}


GIVEN = happened("grant.given", reason="m1")
MOVED = happened("balance.adjusted", reason="m2")
MADE = happened("purchase.made", transaction="t1")
RIGHT = [GIVEN, MOVED, MADE, happened("access.started", entitlement="pro")]
HISTORIES = {
    "a write that is missing": [GIVEN, MADE],
    "a write that occurs twice": RIGHT + [MOVED],
    "a write that came to something else": [happened("grant.revoked", reason="m1"), MOVED, MADE],
    "a write that was never sent": RIGHT + [happened("balance.spent", reason="m9")],
    "an event without a reason": RIGHT + [happened("customer.erased")],
    "a purchase that was never made": RIGHT + [happened("purchase.made", transaction="t9")],
}
SIGNED = f".{base64.urlsafe_b64encode(json.dumps({'transactionId': 't2'}).encode()).decode().rstrip('=')}."


def entitled(*names, position="1:7"):
    return {"entitlements": {name: {"active": True} for name in names}, "position": position}


def read(after):
    return lambda client, customer: client.judge_entitlements(
        customer, "/", 1e9, after, *client.connections.send()[1:])


ANSWERS = {
    "an answer from before its position": (read(True), (200, {}, entitled("pro", position="1:6"))),
    "a right that was never given": (read(False), (200, {}, entitled("pro", "other"))),
    "a right that is missing": (read(False), (200, {}, entitled())),
    "an answer that is too old": (read(False), (200, {"Deed-Stale": "60001"}, entitled("pro"))),
    "a balance that is wrong": (
        lambda client, customer: client.read_balances(customer, 0, {}), (200, {}, {"balances": {"coins": 4}})),
    "a purchase without its right": (
        lambda client, customer: client.read_purchases(customer, 0), (200, {}, entitled())),
    "news that lack a write": (
        lambda client, customer: client.read_news(customer, 0), (200, {}, {"events": [GIVEN], "next": None})),
    "a write that is refused": (
        lambda client, customer: client.adjust(customer, "m3"), (409, {}, {"code": "balance_out_of_bounds"})),
    "a spend that is refused though there is enough": (
        lambda client, customer: spend_all(client, customer), (409, {}, {"code": "insufficient_balance"})),
    "evidence that is refused": (
        lambda client, customer: client.submit(customer, "m3"),
        (200, {}, {"items": [{"outcome": "refused", "code": "signature_invalid"}]})),
}


def spend_all(client, customer):
    customer.balance = 1000
    client.spend(customer, "m3")
