"""A fake Google Play for the bench: it answers about any token after some milliseconds, and states its port.
usage: play.py MILLISECONDS

A token that begins with "slow" gets no answer.
"""
import asyncio
import json
import sys

from receiver import Receiver, serve

DELAY = int(sys.argv[1]) / 1000


def answer(token):
    return json.dumps({
        "kind": "androidpublisher#subscriptionPurchaseV2", "regionCode": "US",
        "subscriptionState": "SUBSCRIPTION_STATE_ACTIVE", "startTime": "2026-01-01T00:00:00Z",
        "acknowledgementState": "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED", "etag": token,
        "lineItems": [{
            "productId": "pro", "expiryTime": "2099-01-01T00:00:00Z",
            "latestSuccessfulOrderId": "GPA." + token, "autoRenewingPlan": {"autoRenewEnabled": True},
            "offerDetails": {"basePlanId": "monthly"},
        }],
    })


class Play(Receiver):
    def received(self, head):
        path = head.split(b" ", 2)[1].decode()
        if path == "/token":
            return self.reply('{"access_token":"bench","expires_in":3599,"token_type":"Bearer"}')
        token = path.rpartition("/")[2]
        if not token.startswith("slow"):
            asyncio.get_running_loop().call_later(DELAY, self.reply, answer(token))

    def reply(self, body):
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self.transport.write((head + body).encode())


serve(Play)
