internal import Core
internal import JSON

/// The payload of a notification: its app, and the signed statements inside it.
struct Notification {
    let heading: Heading
    let head: NotificationHead
    let members: Members
    let signedAt: Instant?
    /// Why a customer requests a refund, if the notification is about a refund request.
    let refundReason: RefundReason?
    /// The signed statements inside the notification. Each one is verified separately.
    let inner: [(kind: EvidenceKind, text: String)]

    /// Accepts the body that the store posts, `{"signedPayload":"…"}`, or only the signed part.
    static func signedPart(of bytes: [UInt8]) throws(EvidenceRefusal) -> [UInt8] {
        guard bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else { return bytes }
        let body = try Members(bytes)
        let part = Array(try body.require("signedPayload", body.text("signedPayload")).utf8)
        // Readers that unwrap once and readers that unwrap twice would disagree about a body inside another body.
        if part.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") { throw .malformedSignedJSON }
        return part
    }

    init(_ members: Members) throws(EvidenceRefusal) {
        let found = EvidenceKind(ofSigned: members.object)
        if found != .notification { throw .wrongKind(expected: .notification, found: found) }
        self.members = members
        signedAt = try members.instant("signedDate")
        head = NotificationHead(
            id: try members.require("notificationUUID", members.text("notificationUUID")),
            type: try members.require("notificationType", members.text("notificationType")),
            subtype: try members.text("subtype"), version: try members.text("version"))
        let (body, environmentName) = try Notification.body(of: members)
        heading = try Heading(
            kind: .notification, environmentName: environmentName,
            app: body.require("bundleId", body.identifier("bundleId")),
            appleID: body.integer("appAppleId"))
        refundReason = try body.word("consumptionRequestReason").map(RefundReason.init(apple:))
        var inner: [(EvidenceKind, String)] = []
        for (name, kind) in Notification.innerKinds {
            if let text = try body.text(name) { inner.append((kind, text)) }
        }
        self.inner = inner
    }

    private static let innerKinds: [(String, EvidenceKind)] = [
        ("signedTransactionInfo", .signedTransaction), ("signedRenewalInfo", .renewalInfo),
        ("signedAppTransactionInfo", .appTransaction),
    ]

    private static func body(
        of members: Members
    ) throws(EvidenceRefusal) -> (Members, environmentName: String?) {
        for name in ["data", "summary", "appData"] {
            if let body = try members.members(name) { return (body, try body.text("environment")) }
        }
        guard let token = try members.members("externalPurchaseToken") else {
            // Containers that this release does not know yet name their app in the same way.
            for member in members.object.members where member.value["bundleId"] != nil {
                guard let body = try members.members(member.name) else { continue }
                return (body, try body.text("environment"))
            }
            throw .invalidMember("data")
        }
        let id = try token.require("externalPurchaseId", token.text("externalPurchaseId"))
        return (token, id.hasPrefix("SANDBOX") ? "Sandbox" : "Production")
    }

    /// Returns the complete statement. `read` reads or verifies each inner statement first.
    ///
    /// Some genuine notifications have no date. They are at least as recent as the newest statement
    /// inside them, so that statement's date is used.
    func statement<Trust>(
        reading read: (EvidenceKind, String) throws(EvidenceRefusal) -> StoreStatement<Trust>
    ) throws(EvidenceRefusal) -> StoreStatement<Unverified> {
        var contents = Contents()
        contents.members = members.object
        contents.notification = head
        var newest: Instant?
        for (kind, text) in inner {
            let part: StoreStatement<Trust>
            do throws(EvidenceRefusal) {
                part = try read(kind, text)
            } catch {
                // The store signed the notification, so it must be stored even if an inner
                // statement has a newer form that this release cannot read.
                guard error.isOfUnknownForm else { throw .inside(kind, error) }
                contents.unread.append(kind)
                continue
            }
            contents.facts.transactions += part.contents.facts.transactions
            contents.facts.renewals += part.contents.facts.renewals
            contents.facts.apps += part.contents.facts.apps
            newest = max(newest ?? part.signedAt, part.signedAt)
        }
        guard let signedAt = signedAt ?? newest else { throw .signedDateMissing }
        addNews(to: &contents.facts, signedAt: signedAt)
        return StoreStatement(heading, signedAt: signedAt, contents: contents)
    }

    /// Adds facts about the inner transaction or account that only the notification's type states.
    /// For other types, the inner statements are more precise.
    private func addNews(to facts: inout Facts, signedAt: Instant) {
        guard let id = try? NewsID(head.id) else { return }
        let stage: RefundFact.Stage? =
            switch head.type {
            case "CONSUMPTION_REQUEST": .requested(refundReason)
            case "REFUND_DECLINED": .declined
            default: nil
            }
        if let stage {
            facts.refunds = facts.transactions.map {
                RefundFact(id, stage, of: $0, signedAt: signedAt, rank: $0.rank)
            }
        }
        guard head.type == "RESCIND_CONSENT" else { return }
        facts.consents = facts.apps.compactMap { fact in
            fact.appTransaction.map {
                ConsentFact(
                    id, store: fact.store, environment: fact.environment, app: fact.app,
                    appTransaction: $0, signedAt: signedAt, rank: fact.rank)
            }
        }
    }

    /// Returns the notification's statement, proven or not.
    static func read(_ bytes: [UInt8]) throws(EvidenceRefusal) -> StoreStatement<Unverified> {
        let notification = try Notification(SignedJSON(signedPart(of: bytes)).members())
        return try notification.statement {
            (kind, text) throws(EvidenceRefusal) -> StoreStatement<Unverified> in
            try SignedJSON(Array(text.utf8)).statement(
                as: kind, rank: .notification, companion: notification.heading.app)
        }
    }
}

extension Verifier {
    /// Verifies a notification and every signed statement inside it.
    func verifyNotification(
        _ bytes: [UInt8], on terms: Terms
    ) throws(EvidenceRefusal) -> StoreStatement<Verified> {
        let (signed, chain) = try authenticate(Notification.signedPart(of: bytes))
        let notification = try Notification(signed.members())
        let heading = notification.heading
        guard let app = heading.app else { throw .invalidMember("bundleId") }
        // The inner statements must be for the app and environment that the notification names.
        var inside = terms
        inside.rank = .notification
        inside.device = nil
        inside.companion = app
        inside.apps = [TrustedApp(id: app, appleID: nil, environments: [heading.environment])]
        let statement = try notification.statement {
            (kind, text) throws(EvidenceRefusal) -> StoreStatement<Verified> in
            try self.verifySigned(Array(text.utf8), as: kind, on: inside)
        }
        try terms.require(statement, under: chain)
        return statement.vouched(by: .chain(chain))
    }
}
