"""Calls a practice store with Apple's own library, and stops at the first wrong result.

usage: apple_library.py URL FOLDER ISSUER KEY_ID TOKEN
"""
import sys
import time
import warnings
from base64 import b64decode
from json import dumps, loads
from urllib.request import Request, urlopen

from appstoreserverlibrary.api_client import (
    APIError, APIException, AppStoreServerAPIClient, GetTransactionHistoryVersion)
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.OrderLookupStatus import OrderLookupStatus
from appstoreserverlibrary.models.RefundPreference import RefundPreference
from appstoreserverlibrary.models.RevocationReason import RevocationReason
from appstoreserverlibrary.models.SendAttemptResult import SendAttemptResult
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.TransactionHistoryRequest import (
    Order, ProductType, TransactionHistoryRequest)
from appstoreserverlibrary.models.Type import Type
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.receipt_utility import ReceiptUtility
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException

warnings.simplefilter("ignore")
url, folder, issuer, key_id, deeds_token = sys.argv[1:]
bundle = "com.example.game"
token = "7f3c2f0e-6a53-4a6c-9d0d-2f6e3f7f0b11"
key = open(f"{folder}/keys/AuthKey_{key_id}.p8", "rb").read()


def client_for(key_id=key_id, bundle=bundle):
    made = AppStoreServerAPIClient(key, key_id, issuer, bundle, Environment.SANDBOX)
    made._base_url = url
    return made


def root(name):
    text = open(f"{folder}/roots/{name}.pem").read()
    return b64decode("".join(line for line in text.splitlines() if "-----" not in line))


client = client_for()
verifier = SignedDataVerifier([root("transactions")], False, Environment.SANDBOX, bundle, 1234567890)
wrong = SignedDataVerifier([root("receipts")], False, Environment.SANDBOX, bundle, 1234567890)


def step(**members):
    members = {name.rstrip("_"): value for name, value in members.items()}
    body = dumps(members).encode()
    return loads(urlopen(Request(f"{url}/practice/steps", body)).read())


def advance(by):
    urlopen(Request(f"{url}/practice/advance", dumps({"by": by}).encode())).read()


def now():
    from datetime import datetime
    text = loads(urlopen(f"{url}/practice/state").read())["now"]
    return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


def same_claims():
    """Expects Deed's bearer token to be like the library's, with the same key."""
    import jwt
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    public = load_pem_private_key(key, password=None).public_key()
    apples = client._generate_token()
    heads = [jwt.get_unverified_header(text) for text in (apples, deeds_token)]
    assert heads[0] == heads[1], heads
    known = dict(
        algorithms=["ES256"], audience="appstoreconnect-v1", issuer=issuer)
    theirs = jwt.decode(apples, public, **known)
    ours = jwt.decode(deeds_token, public, options={"require": ["exp", "iat"]}, **known)
    assert set(theirs) <= set(ours) <= set(theirs) | {"iat"}, (theirs, ours)
    for name in ("iss", "aud", "bid"):
        assert ours[name] == theirs[name], (name, ours, theirs)
    assert 0 < ours["exp"] - ours["iat"] <= 3600, ours


same_claims()


def refused(code, call, *arguments):
    try:
        call(*arguments)
    except APIException as error:
        assert error.api_error == code, f"{error.raw_api_error} instead of {code}"
        return
    raise AssertionError(f"{call.__name__} was not refused with {code}")


def soon(condition):
    for _ in range(100):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")


# What is signed, and by which key.
bought = step(do="buy", customer="ada", product="pro.month", offer="trial", token=token)
ada = bought["transaction"]
told = verifier.verify_and_decode_signed_transaction(bought["signed_transaction"])
assert told.transactionId == ada and told.productId == "pro.month"
assert told.type == Type.AUTO_RENEWABLE_SUBSCRIPTION and told.appAccountToken == token
app = verifier.verify_and_decode_app_transaction(bought["app_transaction"])
assert app.bundleId == bundle and app.appTransactionId
assert ReceiptUtility().extract_transaction_id_from_app_receipt(bought["receipt"]) == ada
try:
    wrong.verify_and_decode_signed_transaction(bought["signed_transaction"])
    raise AssertionError("another root vouched for a transaction")
except VerificationException:
    pass

# Single transactions.
info = client.get_transaction_info(ada).signedTransactionInfo
assert verifier.verify_and_decode_signed_transaction(info).originalTransactionId == ada
signed_app = client.get_app_transaction_info(ada).signedAppTransactionInfo
assert verifier.verify_and_decode_app_transaction(signed_app).originalApplicationVersion == "2.1"
refused(APIError.INVALID_TRANSACTION_ID, client.get_transaction_info, "abc")
refused(APIError.TRANSACTION_ID_NOT_FOUND, client.get_transaction_info, "1")
refused(APIError.TRANSACTION_ID_NOT_FOUND, client.get_app_transaction_info, "1")

# Keys that do not belong to the store.
for stranger in (client_for(key_id="AAAAAAAAAA"), client_for(bundle="com.example.other")):
    try:
        stranger.get_transaction_info(ada)
        raise AssertionError("a wrong token was taken")
    except APIException as error:
        assert error.http_status_code == 401

# Statuses.
advance("10d")
statuses = client.get_all_subscription_statuses(ada)
assert statuses.environment == Environment.SANDBOX and statuses.bundleId == bundle
last = statuses.data[0].lastTransactions[0]
assert last.status == Status.ACTIVE and last.originalTransactionId == ada
renewal = verifier.verify_and_decode_renewal_info(last.signedRenewalInfo)
assert renewal.autoRenewProductId == "pro.month"
assert client.get_all_subscription_statuses(ada, [Status.EXPIRED]).data == []
assert client.get_all_subscription_statuses(app.appTransactionId).data
refused(APIError.TRANSACTION_ID_NOT_FOUND, client.get_all_subscription_statuses, "1")

# History, in pages.
for _ in range(25):
    step(do="buy", customer="ada", product="coins.100", quantity=2)
request = TransactionHistoryRequest(sort=Order.ASCENDING)
found, revision = [], None
while True:
    page = client.get_transaction_history(ada, revision, request, GetTransactionHistoryVersion.V2)
    found += [verifier.verify_and_decode_signed_transaction(t) for t in page.signedTransactions]
    revision = page.revision
    if not page.hasMore:
        break
assert len(found) == 27 and len({t.transactionId for t in found}) == 27
request = TransactionHistoryRequest(productTypes=[ProductType.AUTO_RENEWABLE], revoked=False)
page = client.get_transaction_history(ada, None, request, GetTransactionHistoryVersion.V2)
assert len(page.signedTransactions) == 2
refused(
    APIError.INVALID_REQUEST_REVISION, client.get_transaction_history, ada, "x", request,
    GetTransactionHistoryVersion.V2)

# After it is finished, a consumable is missing only from the old history.
coins = [t for t in found if t.productId == "coins.100"][0].transactionId
client.finish_transaction(coins)
old = client.get_transaction_history(
    ada, None, TransactionHistoryRequest(productTypes=[ProductType.CONSUMABLE], sort=Order.DESCENDING),
    GetTransactionHistoryVersion.V1)
assert coins not in [
    verifier.verify_and_decode_signed_transaction(t).transactionId for t in old.signedTransactions]
assert client.get_transaction_info(coins).signedTransactionInfo
refused(APIError.TRANSACTION_ID_NOT_FOUND, client.finish_transaction, "1")

# Orders.
state = loads(urlopen(f"{url}/practice/state?customer=ada").read())
order = state["customers"][0]["transactions"][0]["order"]
looked_up = client.look_up_order_id(order)
assert looked_up.status == OrderLookupStatus.VALID and len(looked_up.signedTransactions) == 1
assert client.look_up_order_id("MNOTHING").status == OrderLookupStatus.INVALID

# Refunds, and the reports on consumption before them.
step(do="request_refund", customer="ada", transaction=coins)
consumption = ConsumptionRequest(
    customerConsented=True, sampleContentProvided=False, deliveryStatus=DeliveryStatus.DELIVERED,
    consumptionPercentage=50000, refundPreference=RefundPreference.GRANT_PRORATED)
client.send_consumption_information(coins, consumption)
consumption.customerConsented = False
refused(
    APIError.INVALID_CUSTOMER_CONSENTED, client.send_consumption_information, coins, consumption)
consumption.customerConsented = True
refused(
    APIError.TRANSACTION_ID_NOT_FOUND, client.send_consumption_information, "1", consumption)
step(do="refund", customer="ada", transaction=coins, percent=50, for_app=True)
refunds = client.get_refund_history(ada, None)
assert not refunds.hasMore and len(refunds.signedTransactions) == 1
refund = verifier.verify_and_decode_signed_transaction(refunds.signedTransactions[0])
assert refund.transactionId == coins and refund.revocationPercentage == 50000
assert refund.revocationReason == RevocationReason.REFUNDED_DUE_TO_ISSUE
refused(APIError.TRANSACTION_ID_NOT_FOUND, client.get_refund_history, "1", None)

# Account tokens.
other = "11111111-2222-4333-8444-555555555555"
client.set_app_account_token(ada, UpdateAppAccountTokenRequest(appAccountToken=other))
info = client.get_transaction_info(ada).signedTransactionInfo
assert verifier.verify_and_decode_signed_transaction(info).appAccountToken == other
refused(
    APIError.INVALID_APP_ACCOUNT_TOKEN_UUID_ERROR, client.set_app_account_token, ada,
    UpdateAppAccountTokenRequest(appAccountToken="no-uuid"))
renewed = [t for t in found if t.productId == "pro.month"][1].transactionId
refused(
    APIError.TRANSACTION_ID_IS_NOT_ORIGINAL_TRANSACTION_ID_ERROR, client.set_app_account_token,
    renewed, UpdateAppAccountTokenRequest(appAccountToken=other))
shared = step(do="share", customer="ada", product="pro.month", **{"with": "ben"})["transaction"]
refused(
    APIError.FAMILY_TRANSACTION_NOT_SUPPORTED_ERROR, client.set_app_account_token, shared,
    UpdateAppAccountTokenRequest(appAccountToken=other))


# Extensions.
def extension(days=14, request="request-1"):
    return ExtendRenewalDateRequest(
        extendByDays=days, extendReasonCode=ExtendReasonCode.CUSTOMER_SATISFACTION,
        requestIdentifier=request)


done = client.extend_subscription_renewal_date(ada, extension())
assert done.success and done.originalTransactionId == ada and done.effectiveDate
client.extend_subscription_renewal_date(ada, extension())
extend = client.extend_subscription_renewal_date
refused(APIError.SUBSCRIPTION_MAX_EXTENSION, extend, ada, extension())
refused(APIError.INVALID_EXTEND_BY_DAYS, extend, ada, extension(days=91))
refused(APIError.ORIGINAL_TRANSACTION_ID_NOT_FOUND, extend, "1", extension())
refused(APIError.FAMILY_SHARED_SUBSCRIPTION_EXTENSION_INELIGIBLE, extend, shared, extension())
trial = step(do="buy", customer="cyd", product="pro.month", offer="trial")["transaction"]
refused(APIError.SUBSCRIPTION_EXTENSION_INELIGIBLE, extend, trial, extension())
step(do="buy", customer="dee", product="pro.year")
client.extend_renewal_date_for_all_active_subscribers(MassExtendRenewalDateRequest(
    extendByDays=3, extendReasonCode=ExtendReasonCode.SERVICE_ISSUE_OR_OUTAGE,
    requestIdentifier="all", storefrontCountryCodes=["USA"], productId="pro.year"))
mass = client.get_status_of_subscription_renewal_date_extensions("all", "pro.year")
assert mass.complete and mass.succeededCount == 1 and mass.failedCount == 0
refused(
    APIError.STATUS_REQUEST_NOT_FOUND, client.get_status_of_subscription_renewal_date_extensions,
    "other", "pro.year")

# No server receives notifications, so each attempt fails, and the history shows the failures.
test = client.request_test_notification().testNotificationToken
soon(lambda: client.get_test_notification_status(test).sendAttempts)
status = client.get_test_notification_status(test)
assert status.sendAttempts[0].sendAttemptResult == SendAttemptResult.NO_RESPONSE
body = verifier.verify_and_decode_notification(status.signedPayload)
assert body.notificationType == NotificationTypeV2.TEST and body.data.bundleId == bundle
refused(APIError.INVALID_TEST_NOTIFICATION_TOKEN, client.get_test_notification_status, "x")
refused(APIError.TEST_NOTIFICATION_NOT_FOUND, client.get_test_notification_status, other)
seen, page_token, end = set(), None, now()
wanted = NotificationHistoryRequest(startDate=end - 30 * 86400000, endDate=end)
while True:
    page = client.get_notification_history(page_token, wanted)
    for item in page.notificationHistory:
        body = verifier.verify_and_decode_notification(item.signedPayload)
        seen.add(body.notificationType)
        assert item.sendAttempts
        if body.data and body.data.signedTransactionInfo:
            verifier.verify_and_decode_signed_transaction(body.data.signedTransactionInfo)
        if body.data and body.data.signedRenewalInfo:
            verifier.verify_and_decode_renewal_info(body.data.signedRenewalInfo)
    page_token = page.paginationToken
    if not page.hasMore:
        break
assert {
    NotificationTypeV2.SUBSCRIBED, NotificationTypeV2.DID_RENEW, NotificationTypeV2.REFUND,
    NotificationTypeV2.CONSUMPTION_REQUEST, NotificationTypeV2.ONE_TIME_CHARGE,
    NotificationTypeV2.RENEWAL_EXTENDED, NotificationTypeV2.RENEWAL_EXTENSION,
    NotificationTypeV2.TEST} <= seen, seen
wanted = NotificationHistoryRequest(
    startDate=end - 30 * 86400000, endDate=end, notificationType=NotificationTypeV2.REFUND,
    onlyFailures=True)
assert len(client.get_notification_history(None, wanted).notificationHistory) == 1
wanted.transactionId = coins
refused(APIError.MULTIPLE_FILTERS_SUPPLIED, client.get_notification_history, None, wanted)
wanted = NotificationHistoryRequest(startDate=2, endDate=1)
refused(APIError.START_DATE_AFTER_END_DATE, client.get_notification_history, None, wanted)
print("every call came out as it should")
