package import Core
package import JSON

/// The content of a JSON Web Signature to mint. A change to a single member makes it a forgery.
package struct SignedJSONPlan: Sendable {
    package var payload: JSON
    package var algorithm: JSON? = "ES256"
    package var certificates: [[UInt8]]
    /// Additional members in the header.
    package var extraHeader: [(String, JSON)] = []
    package var key: MintedKey

    package init(_ payload: JSON, chain: MintedChain = .transactions) {
        self.payload = payload
        certificates = chain.certificates.map(\.der)
        key = chain.leaf.key
    }

    package var header: JSON {
        var object = JSONObject()
        if let algorithm { object.append("alg", algorithm) }
        object.append("x5c", .array(certificates.map { .string($0.base64) }))
        for (name, value) in extraHeader { object.append(name, value) }
        return .object(object)
    }

    /// The two parts that the signature covers.
    package var signedText: String {
        header.bytes.base64URL + "." + payload.bytes.base64URL
    }

    /// The complete signed text.
    package var text: String { text(signature: key.signRaw(Array(signedText.utf8))) }

    package var bytes: [UInt8] { Array(text.utf8) }

    /// Returns the complete signed text, with the given signature.
    package func text(signature: [UInt8]) -> String { signedText + "." + signature.base64URL }
}

/// Payloads with all of their usual members. To forge them, tests change or remove members.
package struct Payload: Sendable {
    package private(set) var members: [(name: String, value: JSON)]

    package init(_ members: [(String, JSON)]) {
        self.members = members
    }

    package subscript(name: String) -> JSON? {
        get { members.first { $0.name == name }?.value }
        set {
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((name, value))
            case (nil, nil): break
            }
        }
    }

    package var json: JSON {
        var object = JSONObject()
        for (name, value) in members { object.append(name, value) }
        return .object(object)
    }

    package func signed(by chain: MintedChain = .transactions) -> String {
        SignedJSONPlan(json, chain: chain).text
    }
}

extension Payload {
    /// A signing time within the lifetime of the minted leaf: 2023-05-01T10:00:00Z.
    package static let signedAt = Instant(milliseconds: 1_682_935_200_000)
    package static let bundleID = "com.example.app"

    package static var transaction: Payload {
        Payload([
            ("transactionId", "2000000000000002"), ("originalTransactionId", "2000000000000001"),
            ("webOrderLineItemId", "2000000000000077"), ("bundleId", .string(bundleID)),
            ("productId", "com.example.pro.month"), ("subscriptionGroupIdentifier", "20000001"),
            ("purchaseDate", 1_682_935_199_000), ("originalPurchaseDate", 1_680_343_199_000),
            ("expiresDate", 1_685_613_599_000), ("quantity", 1),
            ("type", "Auto-Renewable Subscription"), ("inAppOwnershipType", "PURCHASED"),
            ("appAccountToken", "7f3c2f0e-6a53-4a6c-9d0d-2f6e3f7f0b11"),
            ("signedDate", .integer(signedAt.milliseconds)), ("environment", "Sandbox"),
            ("transactionReason", "RENEWAL"), ("storefront", "USA"), ("storefrontId", "143441"),
            ("price", 4990), ("currency", "USD"), ("appTransactionId", "704000000000000001"),
        ])
    }

    package static var renewal: Payload {
        Payload([
            ("originalTransactionId", "2000000000000001"), ("productId", "com.example.pro.month"),
            ("autoRenewProductId", "com.example.pro.year"), ("autoRenewStatus", 1),
            ("isInBillingRetryPeriod", true), ("gracePeriodExpiresDate", 1_686_218_399_000),
            ("expirationIntent", 2), ("priceIncreaseStatus", 0), ("renewalDate", 1_685_613_599_000),
            ("signedDate", .integer(signedAt.milliseconds)), ("environment", "Sandbox"),
        ])
    }

    package static var appTransaction: Payload {
        Payload([
            ("receiptType", "Sandbox"), ("appAppleId", 1_234_567_890),
            ("bundleId", .string(bundleID)), ("applicationVersion", "42"),
            ("receiptCreationDate", .integer(signedAt.milliseconds)),
            ("originalPurchaseDate", 1_375_340_400_000), ("originalApplicationVersion", "1.0"),
            ("originalPlatform", "iOS"),
        ])
    }

    /// Returns a notification about a transaction and its renewal.
    package static func notification(
        transaction: String? = Payload.transaction.signed(),
        renewal: String? = Payload.renewal.signed(), bundleID: String = Payload.bundleID
    ) -> Payload {
        var data = Payload([
            ("appAppleId", 1_234_567_890), ("bundleId", .string(bundleID)),
            ("bundleVersion", "42"), ("environment", "Sandbox"), ("status", 1),
        ])
        data["signedTransactionInfo"] = transaction.map(JSON.string)
        data["signedRenewalInfo"] = renewal.map(JSON.string)
        return Payload([
            ("notificationType", "DID_RENEW"),
            ("notificationUUID", "5e1f6a04-7a7b-4a0c-8f5a-0a5e6a0d1c22"), ("version", "2.0"),
            ("signedDate", .integer(signedAt.milliseconds)), ("data", data.json),
        ])
    }
}
