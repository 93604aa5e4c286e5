/// The types of events. The file of each one's subject has its name and what else is said of it.
///
/// The numbers are for this program only: the log has the names.
package enum EventType: Int, Hashable, Sendable, CaseIterable {
    // A project's own stream.
    case projectCreated, keyCreated, keyRevoked, keyRotated, catalogChanged
    case appSet, appRemoved, appAllowed, appDisallowed, projectChanged
    case reconciliationStarted, reconciliationFinished, logAccepted, webhookSet, webhookRemoved
    // What a store stated, and what followed for its accounts and requested refunds.
    case purchaseMade, subscriptionRenewed, subscriptionUpgraded, subscriptionExtended
    case purchaseRefunded, purchaseRevoked, refundReversed, purchaseRestated
    case renewalChanged, renewalRestated, appInstalled
    case refundRequested, refundDeclined, consentRescinded, accountJoined
    case refundReportPrepared, refundReported, refundUnreported
    case purchaseAttached, purchaseDetached, purchaseBlocked, purchaseUnblocked
    case grantGiven, grantChanged, grantRevoked
    case noteAdded, noteRemoved
    case balanceCredited, balanceDebited, balanceSpent, balanceAdjusted
    case orderOpened, orderFulfilled, orderClosed, tokenRegistered
    case accessStarted, accessEnded, accessEndingSoon
    case customerMerged, customerJoined, customerParted, customerUnmerged, customerErased
}

extension EventType {
    private static let families: [EventFamily] = [
        projects, keys, transactions, accounts, refunds, holdings, grants, notes, balances, orders,
        boundaries, merges, erasures,
    ]

    private static let descriptions: [EventDescription] = {
        let all = families.reduce(into: EventFamily()) { $0.merge($1) { one, _ in one } }
        return allCases.map { type in
            guard let description = all[type] else {
                preconditionFailure("No file in Core/Events has the EventDescription of \(type).")
            }
            return description
        }
    }()

    private static let named = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })

    /// The type with this name; `nil` if this release has none.
    package init?(named name: String) {
        guard let type = EventType.named[name] else { return nil }
        self = type
    }

    package var name: String { EventType.descriptions[rawValue].name }
    package var home: Home { EventType.descriptions[rawValue].home }
    package var since: LogFormat { EventType.descriptions[rawValue].since }
    package var isAct: Bool { EventType.descriptions[rawValue].isAct }
    package var explanation: EventDescription.Explanation {
        EventType.descriptions[rawValue].explanation
    }
    package var sentence: EventSentence? { EventType.descriptions[rawValue].sentence }

    /// Which streams hold it, and what follows from that.
    package enum Home: Hashable, Sendable {
        /// A project's own stream. Answers about its customers may depend on some of its events.
        case project(changesAnswers: Bool)
        /// The stream of an account of the store, which several customers may share.
        case account
        /// A customer's stream. Evidence states facts; Deed and its callers decide the rest.
        case customer(isFact: Bool)
    }

    /// Whether evidence states it.
    package var isFact: Bool { home == .customer(isFact: true) }

    /// Whether answers about a project's customers may depend on it, where it is an event of the project.
    package var changesAnswers: Bool { home != .project(changesAnswers: false) }

    /// Whether its content goes when its customer is erased.
    package var mayBeEmptied: Bool { !isOfProject && self != .customerErased }

    /// Whether projects' own streams hold it.
    package var isOfProject: Bool {
        if case .project = home { true } else { false }
    }

    /// Whether customers' own streams hold it.
    package var isOfCustomer: Bool {
        if case .customer = home { true } else { false }
    }

    /// Whether an explanation of access lists it.
    package var isExplained: Bool {
        if case .leftOut = explanation { false } else { true }
    }
}
