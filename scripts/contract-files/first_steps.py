"""Takes the first steps with the client generated from the document: first_steps.py URL ADMIN-KEY."""
import sys

from deed_client import AuthenticatedClient
from deed_client.api.balances import adjust, list_balances, spend
from deed_client.api.grants import give_grant, revoke_grant
from deed_client.api.orders import get_order, open_order
from deed_client.api.project import list_products
from deed_client.api.reading import get_customer, get_entitlement, list_entitlements, list_events
from deed_client.api.submitting import submit_purchases
from deed_client.models import (
    Adjustment, AdminReasonHere, NewGrant, NewOrder, Problem, Spending, Submission,
)

url, key = sys.argv[1:]
client = AuthenticatedClient(base_url=url, token=key, raise_on_unexpected_status=True)
who = "first/steps ü"


def expect(holds, what):
    if not holds:
        sys.exit(f"error: the generated client does not {what}")


products = list_products.sync(client=client).products
expect(any(one.kind == "auto_renewable" for one in products), "read the products")

given = give_grant.sync(
    who, client=client, idempotency_key="first-steps",
    body=NewGrant(entitlement="pro", reason="first steps", for_="P30D", ticket="T-1"))
again = give_grant.sync(
    who, client=client, idempotency_key="first-steps",
    body=NewGrant(entitlement="pro", reason="first steps", for_="P30D", ticket="T-1"))
expect(given.grant.id == again.grant.id, "give a grant once")

held = list_entitlements.sync(who, client=client, deed_after=given.position)
expect(held.customer == who and held.entitlements["pro"].active, "see what was granted")
expect(held.entitlements["pro"].until == given.grant.end, "read an instant")

revoked = revoke_grant.sync(
    who, given.grant.id, client=client, body=AdminReasonHere(reason="the steps are done"))
expect(revoked.grant.revoked_at is not None, "revoke a grant")
expect(not get_entitlement.sync(who, "pro", client=client).active, "see what was revoked")

adjust.sync(who, "coins", client=client, body=Adjustment(amount=50, reason="a gift"))
spent = spend.sync(who, "coins", client=client, body=Spending(amount=30))
expect(spent.balance == 20 and spent.reason is None, "spend")
refused = spend.sync(who, "coins", client=client, body=Spending(amount=30))
expect(isinstance(refused, Problem) and refused.code == "insufficient_balance", "read a problem")
expect(list_balances.sync(who, client=client).balances["coins"] == 20, "read balances")

order = open_order.sync(who, client=client, body=NewOrder(lifetime="PT1H")).order
expect(get_order.sync(order.id, client=client).order.token == order.token, "find an order")

answer = submit_purchases.sync(who, client=client, body=Submission(receipt="AAAA"))
expect([item.outcome for item in answer.items] == ["refused"], "submit evidence")

types = [event.type_ for event in list_events.sync(who, client=client).events]
expect(types[:2] == ["grant.given", "grant.revoked"], "read events")
expect(len(get_customer.sync(who, client=client).orders) == 1, "read a customer")
print("the generated client took the first steps")
