internal import Core
internal import JSON

/// A notification's payload: which app it is about, and the signed statements inside.
struct Notification {
    let heading: Heading
    let head: NotificationHead
    let members: Members
    let signedAt: Instant?
    /// Why a customer asks for the money back, where that is what it tells.
    let refundReason: RefundReason?
    /// The signed statements inside, each to be verified in its own right.
    let inner: [(kind: EvidenceKind, text: String)]

    /// Takes the body that the store posts, `{"signedPayload":"…"}`, or the signed part alone.
    static func signedPart(of bytes: [UInt8]) throws(EvidenceRefusal) -> [UInt8] {
        guard bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else { return bytes }
        let body = try Members(bytes)
        let part = Array(try body.require("signedPayload", body.text("signedPayload")).utf8)
        // A body in a body would be one piece of evidence to who unwraps once, and another to who
        // unwraps twice.
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
            // A container that came to be after this was written names its app in the same way.
            for member in members.object.members where member.value["bundleId"] != nil {
                guard let body = try members.members(member.name) else { continue }
                return (body, try body.text("environment"))
            }
            throw .invalidMember("data")
        }
        let id = try token.require("externalPurchaseId", token.text("externalPurchaseId"))
        return (token, id.hasPrefix("SANDBOX") ? "Sandbox" : "Production")
    }

    /// The whole statement, once each inner one was read or verified by `read`.
    ///
    /// Genuine notifications without a date of their own exist; the newest statement inside one
    /// tells how old it is at least.
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
                // The store signed the outside: what it writes some day that cannot be read yet must
                // not keep the notification itself from being kept.
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

    /// Adds what its type alone says about the transaction or the account inside. Its other types say what
    /// the statements inside say better.
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

    /// What a notification states, believed or not.
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
    /// Verifies a notification and every signed statement in it.
    func verifyNotification(
        _ bytes: [UInt8], on terms: Terms
    ) throws(EvidenceRefusal) -> StoreStatement<Verified> {
        let (signed, chain) = try authenticate(Notification.signedPart(of: bytes))
        let notification = try Notification(signed.members())
        let heading = notification.heading
        guard let app = heading.app else { throw .invalidMember("bundleId") }
        // What is inside must be about the app and the environment that the outside names.
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
