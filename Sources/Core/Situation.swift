/// The states on which a command is decided: no other command changes them before the commit.
package struct Situation: Sendable {
    package let now: Instant
    /// The log's format. A rule that came with a later one does not count yet.
    package let format: LogFormat
    package let project: ProjectState
    /// The holder of each of the command's purchases; a purchase without a holder is missing.
    package let holders: [PurchaseID: CustomerID]
    /// The customer of each token of the command and of its purchases; a token without a customer is
    /// missing.
    package let tokenOwners: [String: CustomerID]
    /// The purchases that carry the tokens which the command claims, and that are unclaimed or held by
    /// another customer.
    package let waiting: [String: [PurchaseID]]
    /// The credits that wait for a product of the catalog, if the command needs to know them.
    package let waitingCredits: [WaitingCredit]
    /// The purchases of the command that never have a holder again.
    package let erased: Set<PurchaseID>
    /// The states of those of the other environment that the command names.
    private let elsewhere: [CustomerID: CustomerState]
    /// The customers of the tokens there, for a command that moves all that customers have.
    package let tokenOwnersElsewhere: [String: CustomerID]
    /// Customers whose stream of the other environment has events; known only for improper ids.
    package let knownElsewhere: Set<CustomerID>
    /// The states of the command's own customer, the holders, the owners of tokens, the further
    /// customers that the command names, and the keepers of waiting purchases.
    private let states: [CustomerID: CustomerState]

    package init(
        now: Instant, project: ProjectState, states: [CustomerID: CustomerState],
        holders: [PurchaseID: CustomerID] = [:], tokenOwners: [String: CustomerID] = [:],
        waiting: [String: [PurchaseID]] = [:], waitingCredits: [WaitingCredit] = [],
        erased: Set<PurchaseID> = [], elsewhere: [CustomerID: CustomerState] = [:],
        tokenOwnersElsewhere: [String: CustomerID] = [:],
        knownElsewhere: Set<CustomerID> = [], format: LogFormat = .own
    ) {
        self.now = now
        self.format = format
        self.project = project
        self.states = states
        self.holders = holders
        self.tokenOwners = tokenOwners
        self.waiting = waiting
        self.waitingCredits = waitingCredits
        self.erased = erased
        self.elsewhere = elsewhere
        self.tokenOwnersElsewhere = tokenOwnersElsewhere
        self.knownElsewhere = knownElsewhere
    }

    /// The state of a customer whom the command concerns.
    package func customer(_ id: CustomerID) -> CustomerState { states[id] ?? CustomerState() }

    /// The state of a customer of the other environment whom the command names.
    package func customerElsewhere(_ id: CustomerID) -> CustomerState {
        elsewhere[id] ?? CustomerState()
    }

    /// The holder of the purchase, with that customer's state.
    package func holder(of purchase: PurchaseID) -> Holder? {
        holders[purchase].map { Holder($0, customer($0)) }
    }
}

/// The result of deciding a command.
package struct Decision: Sendable {
    /// Events of one stream, in the command's own project.
    package struct Part: Sendable {
        package let customer: CustomerID
        package internal(set) var events: [Event]
        /// Whether the stream is of the other environment.
        package var isElsewhere = false
        /// The index of the command's evidence behind the events.
        package let restsOn: Int?

        package init(
            customer: CustomerID, events: [Event], restsOn: Int? = nil, isElsewhere: Bool = false
        ) {
            self.customer = customer
            self.events = events
            self.isElsewhere = isElsewhere
            self.restsOn = restsOn
        }
    }
    /// In the order in which they happen; a customer may occur more than once.
    package var parts: [Part]
    /// The result of each item of a submission.
    package var items: [ItemOutcome]
    /// The commit's further work on the tables.
    package var upkeep: Upkeep?
    /// The purchases about which an event rests on that piece of evidence.
    package func purchases(restingOn index: Int) -> Set<PurchaseID> {
        var found: Set<PurchaseID> = []
        for part in parts where part.restsOn == index {
            for case .purchase(let purchase) in part.events.map(\.subject) {
                found.insert(purchase)
            }
        }
        return found
    }

    /// The purchases that each piece of the command's evidence tells of, by its index.
    package var told: [Int: [PurchaseID]] = [:]
    /// The indexes of evidence that is not kept unless events rest on it.
    package var unkept: Set<Int> = []

    package init(parts: [Part], items: [ItemOutcome] = []) {
        self.parts = parts
        self.items = items
    }

    /// The indexes of the command's evidence that supports events and is stored with them.
    package var restsOn: Set<Int> { Set(parts.compactMap(\.restsOn)) }

    /// Events of one customer only.
    package init(_ events: [Event], for customer: CustomerID, _ upkeep: Upkeep? = nil) {
        self.init(parts: [Part(customer: customer, events: events)])
        self.upkeep = upkeep
    }
}

/// The result of one piece of evidence for one purchase in it.
package struct ItemOutcome: Hashable, Sendable {
    package enum Result: Hashable, Sendable {
        /// At least one event records it.
        case recorded
        /// Everything in it was known.
        case alreadyKnown
        /// Its sender does not get the purchase, because another customer holds it; its facts still count. Or
        /// the store account has reached its limit of customers, and nothing is recorded.
        case refused(Refusal)
        /// Support settled the order before; the client should finish the transaction.
        case alreadySettled(OrderID)

        /// Its stable name.
        package var word: String {
            switch self {
            case .recorded: "recorded"
            case .alreadyKnown: "already_known"
            case .refused(.accountShared), .refused(.purchaseErased): "refused"
            case .refused: "held_by_another"
            case .alreadySettled: "already_settled"
            }
        }
    }
    /// The index of the evidence in the submission.
    package let index: Int
    /// `nil` if the evidence states nothing about any purchase.
    package let purchase: PurchaseID?
    /// The newest transaction of the purchase in the evidence.
    package let transaction: TransactionID?
    package let result: Result
    /// The product, if the catalog does not know it: then it brings nothing yet.
    package internal(set) var unknownProduct: ProductKey?
    /// The same, if a transaction of it was recorded for the first time.
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

/// A certificate, stored once for all evidence that contains it.
///
/// A class, so that passing it on costs one reference count: most evidence shares the same few.
package final class KeptCertificate: Hashable, Sendable {
    /// Its SHA-256.
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

/// Evidence as stored: content-addressed, with its certificates separate because most evidence
/// shares them.
package struct EvidenceRecord: Hashable, Sendable {
    /// SHA-256 of the evidence.
    package let digest: [UInt8]
    /// The name of its kind, such as `signed_transaction`.
    package let kind: String
    package let app: AppID?
    package let signedAt: Instant
    /// The evidence without its certificates, in a form from which it can be restored.
    package let content: [UInt8]
    /// In the order in which they are put back.
    package let certificates: [KeptCertificate]
    /// Whether it is stored even without news.
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

    /// The same, stored only if it has news.
    package var keptWhenNew: EvidenceRecord {
        EvidenceRecord(
            digest: digest, kind: kind, app: app, signedAt: signedAt, content: content,
            certificates: certificates)
    }
}
