extension EventType {
    private static let families: [EventFamily] = [
        projects,
        keys,
        transactions,
        accounts,
        refunds,
        holdings,
        grants,
        notes,
        balances,
        orders,
        boundaries,
        merges,
        erasures,
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

    /// Creates the type with this name; `nil` if this release does not know the name.
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

    /// The kind of stream that contains events of this type, and the resulting properties.
    package enum Home: Hashable, Sendable {
        /// A project's own stream. Some of its events may affect answers about the project's
        /// customers.
        case project(changesAnswers: Bool)
        /// The stream of a store account, which several customers may share.
        case account
        /// A customer's stream. Evidence states the facts in it. Deed and its callers decide everything else.
        case customer(isFact: Bool)
    }

    /// Whether events of this type are facts stated by evidence.
    package var isFact: Bool { home == .customer(isFact: true) }

    /// Whether events of this type in a project's stream may affect answers about the project's customers.
    package var changesAnswers: Bool { home != .project(changesAnswers: false) }

    /// Whether erasing the customer removes the event's content.
    package var mayBeEmptied: Bool { !isOfProject && self != .customerErased }

    /// Whether events of this type belong in projects' own streams.
    package var isOfProject: Bool {
        if case .project = home { true } else { false }
    }

    /// Whether events of this type belong in customers' own streams.
    package var isOfCustomer: Bool {
        if case .customer = home { true } else { false }
    }

    /// Whether an explanation of access lists events of this type.
    package var isExplained: Bool {
        if case .leftOut = explanation { false } else { true }
    }
}
