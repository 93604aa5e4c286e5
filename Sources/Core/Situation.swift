/// What a command is decided on: states that no other command changes before it is committed.
package struct Situation: Sendable {
    package let now: Instant
    package let project: ProjectState
    /// Who holds each of the command's purchases; a purchase without a holder is not in it.
    package let holders: [PurchaseID: CustomerID]
    /// The customer of each of the command's tokens, and of each that its purchases carry; a token without a
    /// customer is not in it.
    package let tokenOwners: [String: CustomerID]
    /// The purchases that carry the tokens which the command claims, and that no customer claimed so far or
    /// that another one holds.
    package let waiting: [String: [PurchaseID]]
    /// What waits for a product of the catalog, where the command has to know that.
    package let waitingCredits: [WaitingCredit]
    /// Customers whose stream of the other environment has events; known of improper ids only.
    package let knownElsewhere: Set<CustomerID>
    /// The states of the command's own customer, the holders, the owners of tokens, the further
    /// customers that the command names, and the keepers of the purchases that wait.
    private let states: [CustomerID: CustomerState]

    package init(
        now: Instant, project: ProjectState, states: [CustomerID: CustomerState],
        holders: [PurchaseID: CustomerID] = [:], tokenOwners: [String: CustomerID] = [:],
        waiting: [String: [PurchaseID]] = [:], waitingCredits: [WaitingCredit] = [],
        knownElsewhere: Set<CustomerID> = []
    ) {
        self.now = now
        self.project = project
        self.states = states
        self.holders = holders
        self.tokenOwners = tokenOwners
        self.waiting = waiting
        self.waitingCredits = waitingCredits
        self.knownElsewhere = knownElsewhere
    }

    /// The state of a customer whom the command concerns.
    package func customer(_ id: CustomerID) -> CustomerState { states[id] ?? CustomerState() }

    /// Who holds the purchase, with the state of that customer.
    package func holder(of purchase: PurchaseID) -> Holder? {
        holders[purchase].map { Holder($0, customer($0)) }
    }
}

/// What a command leads to.
package struct Decision: Sendable {
    /// Events of one stream, in the project and environment of the command's own.
    package struct Part: Sendable {
        package let customer: CustomerID
        package internal(set) var events: [Event]
        /// The place of the command's evidence on which the events rest.
        package let restsOn: Int?

        package init(customer: CustomerID, events: [Event], restsOn: Int? = nil) {
            self.customer = customer
            self.events = events
            self.restsOn = restsOn
        }
    }
    /// In the order in which they happen; a customer may come more than once.
    package var parts: [Part]
    /// What came of each item of a submission.
    package var items: [ItemOutcome]
    /// What else the commit does for the tables.
    package var upkeep: Upkeep?

    package init(parts: [Part], items: [ItemOutcome] = []) {
        self.parts = parts
        self.items = items
    }

    /// The places of the command's evidence on which events rest, and which is kept with them.
    package var restsOn: Set<Int> { Set(parts.compactMap(\.restsOn)) }

    /// Events of one customer only.
    package init(_ events: [Event], for customer: CustomerID, _ upkeep: Upkeep? = nil) {
        self.init(parts: [Part(customer: customer, events: events)])
        self.upkeep = upkeep
    }
}

/// What came of one piece of evidence for one purchase that it states something about.
package struct ItemOutcome: Hashable, Sendable {
    package enum Result: Hashable, Sendable {
        /// At least one event records it.
        case recorded
        /// Everything that it states was known.
        case alreadyKnown
        /// Its sender does not get the purchase, because another customer holds it; what it states counts. Or
        /// the account of the store has as many customers as it may, and nothing is recorded.
        case refused(Refusal)
        /// Support settled the order before; the client is to finish the transaction.
        case alreadySettled(OrderID)

        /// Its stable name.
        package var word: String {
            switch self {
            case .recorded: "recorded"
            case .alreadyKnown: "already_known"
            case .refused(.accountShared): "refused"
            case .refused: "held_by_another"
            case .alreadySettled: "already_settled"
            }
        }
    }
    /// The place of the piece of evidence in the submission.
    package let index: Int
    /// `nil` where the evidence states nothing about any purchase.
    package let purchase: PurchaseID?
    /// The newest one of the purchase that the evidence names.
    package let transaction: TransactionID?
    package let result: Result
    /// The product that the catalog does not know, where that is so: then it brings nothing yet.
    package internal(set) var unknownProduct: ProductKey?
    /// The same, where a transaction of it was recorded for the first time.
    package var newUnknownProduct: ProductKey?

    package init(
        index: Int, purchase: PurchaseID?, transaction: TransactionID?, result: Result
    ) {
        self.index = index
        self.purchase = purchase
        self.transaction = transaction
        self.result = result
    }
}

/// A certificate as it is kept, once for all evidence that holds it.
///
/// A class, so that handing it on counts one reference: most evidence shares the same few.
package final class KeptCertificate: Hashable, Sendable {
    /// SHA-256 of it.
    package let digest: [UInt8]
    package let der: [UInt8]

    package init(digest: [UInt8], der: [UInt8]) {
        self.digest = digest
        self.der = der
    }

    package static func == (one: KeptCertificate, other: KeptCertificate) -> Bool {
        one === other || one.digest == other.digest
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

/// Evidence as it is kept: content-addressed, its certificates apart because most evidence shares
/// them.
package struct EvidenceRecord: Hashable, Sendable {
    /// SHA-256 of the evidence.
    package let digest: [UInt8]
    /// The name of its kind, as in `signed_transaction`.
    package let kind: String
    package let app: AppID?
    package let signedAt: Instant
    /// The evidence without its certificates, in a form from which it can be put together again.
    package let content: [UInt8]
    /// In the order in which they are to be put back.
    package let certificates: [KeptCertificate]
    /// Whether it is kept also when it states nothing new.
    package let isKeptAlways: Bool

    package init(
        digest: [UInt8], kind: String, app: AppID?, signedAt: Instant, content: [UInt8],
        certificates: [KeptCertificate], isKeptAlways: Bool = false
    ) {
        self.digest = digest
        self.kind = kind
        self.app = app
        self.signedAt = signedAt
        self.content = content
        self.certificates = certificates
        self.isKeptAlways = isKeptAlways
    }

    /// The same, kept only when it states something new.
    package var keptWhenNew: EvidenceRecord {
        EvidenceRecord(
            digest: digest, kind: kind, app: app, signedAt: signedAt, content: content,
            certificates: certificates)
    }
}
