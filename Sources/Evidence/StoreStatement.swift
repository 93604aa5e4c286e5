package import Core
internal import Crypto
package import JSON

/// Marks a statement that any stranger could have written.
package enum Unverified {}
/// Marks a statement that was followed to a trusted root, on terms that it meets.
package enum Verified {}

/// What one piece of evidence states. Only a verified one gives facts.
package struct StoreStatement<Trust>: Sendable {
    package let kind: EvidenceKind
    /// The store's own word for where the evidence comes from.
    package let environmentName: String
    package let environment: Environment
    /// The app that it was made for; a renewal info does not tell.
    package let app: AppID?
    /// Apple's number of the app, where the evidence names one.
    package let appleID: Int64?
    package let signedAt: Instant
    /// The names from the signer's certificate to the trusted root; none before it was followed.
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

/// Which app and environment evidence was made for.
struct Heading: Sendable {
    let kind: EvidenceKind
    let environmentName: String
    let environment: Environment
    let app: AppID?
    let appleID: Int64?
}

/// The inside of a statement.
struct Contents: Sendable {
    var facts = Facts()
    var appVersion: String?
    var notification: NotificationHead?
    /// The statements inside that are the store's and that this release cannot read.
    var unread: [EvidenceKind] = []
    /// When the licence ends under which a volume purchase was installed.
    var licenceEnds: Instant?
    /// All that a signed statement says, what this release does not understand included.
    var members: JSONObject?
}

extension StoreStatement {
    /// The version of the app that the evidence names.
    package var appVersion: String? { contents.appVersion }
    package var notification: NotificationHead? { contents.notification }
    /// The kinds of the statements inside that this release cannot read: their facts are missing.
    package var unread: [EvidenceKind] { contents.unread }
    /// Every member of a signed statement as the store wrote it, unknown ones too.
    package var members: JSONObject? { contents.members }
    /// The purchases for people to read; nothing may be granted on their strength.
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

    /// Only the verifier may say so, after every check has passed.
    func vouched(by voucher: Voucher) -> StoreStatement<Verified> {
        StoreStatement<Verified>(self, signedBy: voucher.names)
    }
}

/// What makes a statement count.
enum Voucher {
    /// Signatures from it up to a trusted root.
    case chain(VerifiedChain)
    /// The store itself, which our own client asked over TLS.
    case fetched(FetchedAnswer)
    /// That just these bytes were believed before, for one of the two reasons above.
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
