"""Calls a practice store with Google's own libraries, and stops at the first wrong result.

usage: google_library.py URL ACCOUNT_FILE
"""
import json
import sys
from urllib.request import Request, urlopen

import google.auth.transport.requests
from google.auth.exceptions import RefreshError
from google.oauth2 import service_account
from googleapiclient import discovery
from googleapiclient.discovery_cache import get_static_doc
from googleapiclient.errors import HttpError

url, account_file = sys.argv[1:]
package = "com.example.game"
scopes = ["https://www.googleapis.com/auth/androidpublisher"]
schemas = json.loads(get_static_doc("androidpublisher", "v3"))["schemas"]
credentials = service_account.Credentials.from_service_account_file(account_file, scopes=scopes)
# Uses the library's own copy of the API's description, so that no request leaves this machine.
publisher = discovery.build(
    "androidpublisher", "v3", credentials=credentials, static_discovery=True,
    client_options={"api_endpoint": url})
purchases = publisher.purchases()
subscriptions = purchases.subscriptionsv2()
tokens = purchases.subscriptions()
products = purchases.products()
orders = publisher.orders()


def step(**members):
    members = {"store": "google", "customer": "u1",
               **{name.rstrip("_"): value for name, value in members.items()}}
    answer = urlopen(Request(f"{url}/practice/steps", json.dumps(members).encode()))
    return json.loads(answer.read())["transaction"]


def advance(by):
    urlopen(Request(f"{url}/practice/advance", json.dumps({"by": by}).encode())).read()


def require(holds, what):
    if not holds:
        sys.exit(f"not as it should be: {what}")


def conform(value, schema, path):
    """Expects Google's description to contain every member with its type and its possible words."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"]]
    kind = schema.get("type")
    if kind == "object":
        require(isinstance(value, dict), f"{path} is no object")
        for name, member in value.items():
            known = schema.get("properties", {}).get(name)
            require(known is not None, f"{path}.{name} is unknown to Google")
            conform(member, known, f"{path}.{name}")
    elif kind == "array":
        require(isinstance(value, list), f"{path} is no array")
        for index, item in enumerate(value):
            conform(item, schema["items"], f"{path}[{index}]")
    else:
        types = {"string": str, "integer": int, "boolean": bool}[kind]
        require(isinstance(value, types), f"{path} is {value!r}, no {kind}")
        if "enum" in schema:
            require(value in schema["enum"], f"{path} is {value!r}")


def call(request, schema=None):
    answer = request.execute()
    if schema:
        conform(answer, schemas[schema], schema)
    return answer


def subscription(token):
    return call(subscriptions.get(packageName=package, token=token), "SubscriptionPurchaseV2")


def state(token):
    return subscription(token)["subscriptionState"].removeprefix("SUBSCRIPTION_STATE_")


def fails(code, request):
    try:
        request.execute()
    except HttpError as error:
        require(error.status_code == code, f"{request.uri}: {error.status_code}, not {code}")
        require(error.reason, f"{request.uri} has no message")
        return
    sys.exit(f"{request.uri} did not fail")


def of(token):
    return {"packageName": package, "token": token}


# A subscription from its purchase to its end.
token = step(do="buy", product="pro:monthly", offer="first-months",
             token="7f3c2f0e-6a53-4a6c-9d0d-2f6e3f7f0b11")
require(state(token) == "ACTIVE", "a bought subscription")
call(tokens.acknowledge(subscriptionId="pro", body={}, **of(token)))
require(subscription(token)["acknowledgementState"].endswith("_ACKNOWLEDGED"), "acknowledged")
advance("40d")
answer = subscription(token)
require("introductoryPrice" in answer["lineItems"][0]["offerPhase"], "the second phase")
advance("120d")
answer = subscription(token)
deferral = {"etag": answer["etag"], "deferDuration": "864000s"}
deferred = call(subscriptions.defer(body={"deferralContext": deferral}, **of(token)),
                "DeferSubscriptionPurchaseResponse")
require(deferred["itemExpiryTimeDetails"][0]["productId"] == "pro", "deferred")
fails(409, subscriptions.defer(body={"deferralContext": deferral}, **of(token)))

order = answer["lineItems"][0]["latestSuccessfulOrderId"]
require(call(orders.get(packageName=package, orderId=order), "Order")["purchaseToken"] == token,
        "the order of a renewal")

# Every state has its words.
step(do="raise_price", customer=None, product="pro:monthly", price=12000, needs_consent=True)
step(do="consent")
require(state(token) == "ACTIVE", "a price that was agreed to")
step(do="pause", days=14)
advance("45d")
require(state(token) == "PAUSED", "paused")
step(do="resume")
step(do="fail_billing")
advance("33d")
require(state(token) == "IN_GRACE_PERIOD", "grace")
advance("3d")
require(state(token) == "ON_HOLD", "hold")
step(do="recover")
added = step(do="add_on", product="sounds:monthly")
call(tokens.acknowledge(subscriptionId="pro", body={}, **of(added)))
require(len(subscription(added)["lineItems"]) == 2, "an add-on")
require(subscription(added)["linkedPurchaseToken"] == token, "linked")
require(state(token) == "EXPIRED", "replaced")
call(subscriptions.revoke(
    body={"revocationContext": {"itemBasedRefund": {"productId": "sounds"}}}, **of(added)),
    "RevokeSubscriptionPurchaseResponse")
changed = step(do="change", product="premium:monthly", when="deferred")
call(tokens.acknowledge(subscriptionId="premium", body={
    "externalAccountIds": {"obfuscatedAccountId": "a", "obfuscatedProfileId": "p"}}, **of(changed)))
require("deferredItemReplacement" in subscription(changed)["lineItems"][0], "deferred change")
call(subscriptions.cancel(
    body={"cancellationContext": {"cancellationType": "USER_REQUESTED_STOP_RENEWALS"}},
    **of(changed)), "CancelSubscriptionPurchaseResponse")
require(state(changed) == "CANCELED", "cancelled")
call(subscriptions.revoke(body={"revocationContext": {"fullRefund": {}}}, **of(changed)))
require(state(changed) == "EXPIRED", "revoked")
advance("61d")
fails(410, subscriptions.get(**of(changed)))

pending = step(do="buy", product="pro:instalments", pending=True)
require(state(pending) == "PENDING", "pending")
step(do="approve")
require("installmentDetails" in subscription(pending)["lineItems"][0]["autoRenewingPlan"],
        "instalments")
step(do="cancel")
prepaid = step(do="buy", customer="u2", product="pro:prepaid-month")
topped = step(do="top_up", customer="u2")
require(subscription(topped)["linkedPurchaseToken"] == prepaid, "a top-up")
declined = step(do="buy", customer="u3", product="pro", pending=True)
step(do="decline", customer="u3")
require(state(declined) == "PENDING_PURCHASE_CANCELED", "declined")
gone = step(do="buy", customer="u4", product="pro")
advance("4d")
back = step(do="resubscribe", customer="u4", in_store=True)
require(subscription(back)["outOfAppPurchaseContext"]["expiredPurchaseToken"] == gone, "back")

# One-time products in both forms.
coins = step(do="buy", product="coins.100", quantity=3)
first = call(products.get(productId="coins.100", **of(coins)), "ProductPurchase")
require(first["quantity"] == 3 and first["purchaseState"] == 0, "three pieces")
call(products.acknowledge(productId="coins.100", body={}, **of(coins)))
call(products.consume(productId="coins.100", **of(coins)))
step(do="refund", product="coins.100", quantity=1)
second = call(purchases.productsv2().getproductpurchasev2(**of(coins)), "ProductPurchaseV2")
require(second["productLineItem"][0]["productOfferDetails"]["refundableQuantity"] == 2, "a part")
for product in ["film", "sequel", "level2"]:
    call(purchases.productsv2().getproductpurchasev2(**of(step(do="buy", product=product))),
         "ProductPurchaseV2")

# Orders and voided purchases.
call(orders.refund(packageName=package, orderId=second["orderId"], revoke=True))
both = call(orders.batchget(packageName=package, orderIds=[order, second["orderId"]]),
            "BatchGetOrdersResponse")
require([one["state"] for one in both["orders"]] == ["PROCESSED", "REFUNDED"], "two orders")
fails(404, orders.batchget(packageName=package, orderIds=[order, "GPA.0"]))
listed = call(purchases.voidedpurchases().list(
    packageName=package, type=1, includeQuantityBasedPartialRefund=True),
    "VoidedPurchasesListResponse")
require(any(one.get("voidedReason") == 8 for one in listed["voidedPurchases"]), "unacknowledged")
require(any(one.get("voidedQuantity") == 1 for one in listed["voidedPurchases"]), "a void part")

# Errors as the library reads them.
fails(404, subscriptions.get(**of("a" * 60)))
fails(400, subscriptions.get(**of("short")))
fails(400, subscriptions.get(packageName="com.example.other", token=token))

# Uses google-auth's plain session, and an account that this store does not know.
session = google.auth.transport.requests.AuthorizedSession(credentials)
plain = session.get(f"{url}/androidpublisher/v3/applications/{package}/orders/{order}")
require(plain.status_code == 200, "a plain session")
stranger = json.load(open(account_file))
stranger["client_email"] = "someone@example.com"
unknown = service_account.Credentials.from_service_account_info(stranger, scopes=scopes)
try:
    unknown.refresh(google.auth.transport.requests.Request())
    sys.exit("a stranger got an access token")
except RefreshError:
    pass
print("every call came out as it should")
