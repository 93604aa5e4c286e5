/// The states on which the decision about a command is based. No other command can change them before the commit.
package struct Situation: Sendable {
    package let now: Instant
    /// The log format in effect. Rules that came with a later format do not apply yet.
    package let format: LogFormat
    package let project: ProjectState
    /// The holder of each of the command's purchases. Purchases without a holder are left out.
    package let holders: [PurchaseID: CustomerID]
    /// The owner of each token in the command and in its purchases. Tokens without an owner are
    /// left out.
    package let tokenOwners: [String: CustomerID]
    /// For each token that the command claims, the purchases with the token that are unclaimed or
    /// that another customer holds.
    package let waiting: [String: [PurchaseID]]
    /// The credits that wait for a product in the catalog, if the command needs them.
    package let waitingCredits: [WaitingCredit]
    /// The command's purchases that no customer may hold again.
    package let erased: Set<PurchaseID>
    /// The states of the customers in the other environment that the command names.
    private let elsewhere: [CustomerID: CustomerState]
    /// The owners of tokens in the other environment. Filled only for commands that move everything
    /// that their customers have.
    package let tokenOwnersElsewhere: [String: CustomerID]
    /// Customers whose stream in the other environment has events. Filled only for ids that are not
    /// in their proper form.
    package let knownElsewhere: Set<CustomerID>
    /// The states of the command's own customer, the holders, the token owners, the other customers
    /// that the command names, and the keepers of waiting purchases.
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

    /// Returns the state of a customer whom the command concerns.
    package func customer(_ id: CustomerID) -> CustomerState { states[id] ?? CustomerState() }

    /// Returns the state of a customer in the other environment whom the command names.
    package func customerElsewhere(_ id: CustomerID) -> CustomerState {
        elsewhere[id] ?? CustomerState()
    }

    /// Returns the holder of the purchase, with that customer's state.
    package func holder(of purchase: PurchaseID) -> Holder? {
        holders[purchase].map { Holder($0, customer($0)) }
    }
}

/// The outcome of deciding a command.
package struct Decision: Sendable {
    /// Events for one stream, in the command's own project.
    package struct Part: Sendable {
        package let customer: CustomerID
        package internal(set) var events: [Event]
        /// Whether the stream is in the other environment.
        package var isElsewhere = false
        /// The index of the evidence on which the events are based.
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
    /// The parts in chronological order. A customer may occur more than once.
    package var parts: [Part]
    /// The result of each item in a submission.
    package var items: [ItemOutcome]
    /// Further table changes in the same commit.
    package var upkeep: Upkeep?
    /// Returns the purchases with an event that is based on the evidence with this index.
    package func purchases(restingOn index: Int) -> Set<PurchaseID> {
        var found: Set<PurchaseID> = []
        for part in parts where part.restsOn == index {
            for case .purchase(let purchase) in part.events.map(\.subject) {
                found.insert(purchase)
            }
        }
        return found
    }

    /// The purchases that each piece of evidence mentions, by the index of the piece.
    package var told: [Int: [PurchaseID]] = [:]
    /// The indexes of the pieces of evidence that are stored only if events are based on them.
    package var unkept: Set<Int> = []

    package init(parts: [Part], items: [ItemOutcome] = []) {
        self.parts = parts
        self.items = items
    }

    /// The indexes of the pieces of evidence on which events are based. These pieces are stored
    /// with the events.
    package var restsOn: Set<Int> { Set(parts.compactMap(\.restsOn)) }

    /// Creates a decision with events for a single customer.
    package init(_ events: [Event], for customer: CustomerID, _ upkeep: Upkeep? = nil) {
        self.init(parts: [Part(customer: customer, events: events)])
        self.upkeep = upkeep
    }
}

/// The result for one purchase in one piece of evidence.
package struct ItemOutcome: Hashable, Sendable {
    package enum Result: Hashable, Sendable {
        /// At least one event records the evidence.
        case recorded
        /// Everything in the evidence was already known.
        case alreadyKnown
        /// The sender does not get the purchase because another customer holds it, but its facts still
        /// count. Or the store account has reached its limit of customers, and nothing is recorded.
        case refused(Refusal)
        /// Support had already settled the order. The client should finish the transaction.
        case alreadySettled(OrderID)

        /// The stable name of the result.
        package var word: String {
            switch self {
            case .recorded: "recorded"
            case .alreadyKnown: "already_known"
            case .refused(.move(.accountShared)), .refused(.erasure(.purchaseErased)): "refused"
            case .refused: "held_by_another"
            case .alreadySettled: "already_settled"
            }
        }
    }
    /// The index of the evidence in the submission.
    package let index: Int
    /// `nil` if the evidence does not state anything about a purchase.
    package let purchase: PurchaseID?
    /// The newest transaction of the purchase in the evidence.
    package let transaction: TransactionID?
    package let result: Result
    /// The product, if the catalog does not know it. The purchase gives nothing yet.
    package internal(set) var unknownProduct: ProductKey?
    /// The unknown product, if the submission recorded one of its transactions for the first time.
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

/// A certificate, stored only once for all evidence that contains it.
///
/// This is a class so that passing it on costs only one reference count, because most evidence
/// shares the same few certificates.
package final class KeptCertificate: Hashable, Sendable {
    /// The SHA-256 of the certificate.
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

/// Evidence as stored. It is content-addressed, and its certificates are stored separately because
/// most evidence shares them.
package struct EvidenceRecord: Hashable, Sendable {
    /// The SHA-256 of the evidence.
    package let digest: [UInt8]
    /// The name of the evidence's kind, such as `signed_transaction`.
    package let kind: String
    package let app: AppID?
    package let signedAt: Instant
    /// The evidence without its certificates, in a form that can be restored.
    package let content: [UInt8]
    /// The certificates, in the order in which they are put back into the content.
    package let certificates: [KeptCertificate]
    /// Whether the evidence is stored even if it does not contain anything new.
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

    /// The same evidence, stored only if it contains something new.
    package var keptWhenNew: EvidenceRecord {
        EvidenceRecord(
            digest: digest, kind: kind, app: app, signedAt: signedAt, content: content,
            certificates: certificates)
    }
}
