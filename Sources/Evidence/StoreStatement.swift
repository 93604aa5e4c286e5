package import Core
internal import Crypto
package import JSON

/// Marks a statement that anyone could have written.
package enum Unverified {}
/// Marks a statement that a trusted root has proven and that meets the terms.
package enum Verified {}

/// The statement in one piece of evidence. Only a verified statement provides facts.
package struct StoreStatement<Trust>: Sendable {
    package let kind: EvidenceKind
    /// The store's own name for the evidence's environment.
    package let environmentName: String
    package let environment: Environment
    /// The app that the evidence is for; `nil` for renewal info, which names none.
    package let app: AppID?
    /// Apple's id for the app, if the evidence states one.
    package let appleID: Int64?
    package let signedAt: Instant
    /// The names of the certificates from the signer's up to the trusted root's; empty until the chain is verified.
    package private(set) var signedBy: [String] = []
    private(set) var contents: Contents

    private init<Other>(_ other: StoreStatement<Other>, signedBy: [String]) {
        self.signedBy = signedBy
        kind = other.kind
        environmentName = other.environmentName
        environment = other.environment
        app = other.app
        appleID = other.appleID
        signedAt = other.signedAt
        contents = other.contents
    }
}

/// The app and the environment that evidence is for.
struct Heading: Sendable {
    let kind: EvidenceKind
    let environmentName: String
    let environment: Environment
    let app: AppID?
    let appleID: Int64?
}

/// The content of a statement.
struct Contents: Sendable {
    var facts = Facts()
    var appVersion: String?
    var notification: NotificationHead?
    /// Genuine inner statements that this release cannot read.
    var unread: [EvidenceKind] = []
    /// When the licence for a volume purchase expires.
    var licenceEnds: Instant?
    /// All members of a signed statement, including members that this release does not understand.
    var members: JSONObject?
}

extension StoreStatement {
    /// The app version that the evidence names.
    package var appVersion: String? { contents.appVersion }
    package var notification: NotificationHead? { contents.notification }
    /// The kinds of inner statements that this release cannot read. Their facts are missing.
    package var unread: [EvidenceKind] { contents.unread }
    /// All members of a signed statement as the store wrote them, including unknown ones.
    package var members: JSONObject? { contents.members }
    /// The purchases, for people to read. They give no rights.
    package var purchases: [StatedPurchase] { contents.facts.transactions.map(StatedPurchase.init) }
}

extension StoreStatement where Trust == Verified {
    /// The facts on which the rules may rely.
    package var facts: Facts { contents.facts }
}

extension StoreStatement where Trust == Unverified {
    init(_ heading: Heading, signedAt: Instant, contents: Contents) {
        kind = heading.kind
        environmentName = heading.environmentName
        environment = heading.environment
        app = heading.app
        appleID = heading.appleID
        self.signedAt = signedAt
        self.contents = contents
    }

    func with(_ facts: Facts) -> Self {
        var copy = self
        copy.contents.facts = facts
        return copy
    }

    /// Returns the verified statement. Only verification may call this, after every check has passed.
    func vouched(by voucher: Voucher) -> StoreStatement<Verified> {
        StoreStatement<Verified>(self, signedBy: voucher.names)
    }
}

/// The grounds on which a statement counts as verified.
enum Voucher {
    /// A chain of signatures up to a trusted root.
    case chain(VerifiedChain)
    /// The store itself, which our own client queried over TLS.
    case fetched(FetchedAnswer)
    /// An earlier proof of exactly these bytes, by a signature chain or by the store itself.
    case belief

    fileprivate var names: [String] {
        if case .chain(let chain) = self { chain.names } else { [] }
    }
}

/// A purchase as the evidence states it, proven or not.
package struct StatedPurchase: Hashable, Sendable {
    package let product: ProductID
    package let transaction: TransactionID
    package let original: TransactionID
    package let purchasedAt: Instant
    package let originallyPurchasedAt: Instant?
    package let expiresAt: Instant?
    package let cancelledAt: Instant?
    package let quantity: Int64

    init(_ fact: TransactionFact) {
        product = fact.product
        transaction = fact.transaction
        original = fact.original
        purchasedAt = fact.purchased
        originallyPurchasedAt = fact.originallyPurchased
        expiresAt = fact.expires
        cancelledAt = fact.revocation?.at
        quantity = fact.quantity
    }
}
