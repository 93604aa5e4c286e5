package import Core
internal import Crypto
package import JSON

/// Marks a statement that any stranger could have written.
package enum Unverified {}
/// Marks a statement that leads to a trusted root and meets the terms.
package enum Verified {}

/// What one piece of evidence states. Only a verified one gives facts.
package struct StoreStatement<Trust>: Sendable {
    package let kind: EvidenceKind
    /// The store's own name for the environment of the evidence.
    package let environmentName: String
    package let environment: Environment
    /// The app that it was made for; renewal info does not name one.
    package let app: AppID?
    /// Apple's number of the app, if the evidence names one.
    package let appleID: Int64?
    package let signedAt: Instant
    /// The names from the signer's certificate to the trusted root; empty until the chain is
    /// checked.
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

/// The app and the environment that evidence was made for.
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
    /// When the licence of a volume purchase ends.
    var licenceEnds: Instant?
    /// Everything in a signed statement, including what this release does not understand.
    var members: JSONObject?
}

extension StoreStatement {
    /// The version of the app that the evidence names.
    package var appVersion: String? { contents.appVersion }
    package var notification: NotificationHead? { contents.notification }
    /// The kinds of the inner statements that this release cannot read: their facts are missing.
    package var unread: [EvidenceKind] { contents.unread }
    /// Every member of a signed statement as the store wrote it, including unknown ones.
    package var members: JSONObject? { contents.members }
    /// The purchases for people to read; they give no rights.
    package var purchases: [StatedPurchase] { contents.facts.transactions.map(StatedPurchase.init) }
}

extension StoreStatement where Trust == Verified {
    /// What the rules may rely on.
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

    /// Only the verifier may call this, after every check has passed.
    func vouched(by voucher: Voucher) -> StoreStatement<Verified> {
        StoreStatement<Verified>(self, signedBy: voucher.names)
    }
}

/// What makes a statement valid.
enum Voucher {
    /// Signatures from it up to a trusted root.
    case chain(VerifiedChain)
    /// The store itself, which our own client asked over TLS.
    case fetched(FetchedAnswer)
    /// Exactly these bytes were believed before, for one of the two reasons above.
    case belief

    fileprivate var names: [String] {
        if case .chain(let chain) = self { chain.names } else { [] }
    }
}

/// A purchase as evidence shows it, whether or not it is believed.
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
