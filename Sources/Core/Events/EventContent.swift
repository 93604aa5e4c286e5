/// What an event says. Each type of content says once what follows from it for all events that have it.
package protocol EventContent: Hashable, Sendable {
    /// What it is about, beyond its stream.
    var subject: EventSubject { get }
    /// What evidence stated for it to happen; `nil` for what Deed or its callers decided.
    var statedFact: StatedFact? { get }
    /// The log's format that came with the newest of its members.
    var newestMember: LogFormat { get }
    /// Throws if the event gives the customer more than support staff may give.
    func require(within bounds: SupportBounds) throws(Refusal)
}

// Most contents are decided by someone, have their first form, and grant nothing.
extension EventContent {
    package var statedFact: StatedFact? { nil }
    package var newestMember: LogFormat { .first }
    package func require(within bounds: SupportBounds) throws(Refusal) {}
}

/// What an event is about, beyond its stream.
package enum EventSubject: Hashable, Sendable {
    case project
    case customer
    case key(digest: String)
    case app(AppKey)
    case installation(AppID)
    case account(AppTransactionID)
    case purchase(PurchaseID)
    case grant(GrantID)
    case balance(CurrencyID)
    case order(OrderID)
    case token(AccountToken)
    case entitlement(EntitlementID)

    /// What sentences and answers call it; `nil` for what they call by its customer.
    package var name: String? {
        switch self {
        case .purchase(let purchase): purchase.description
        case .grant(let grant): grant.text
        case .installation(let app): app.text
        case .project, .customer, .key, .app, .account, .balance, .order, .token, .entitlement:
            nil
        }
    }
}

/// Reads what an event is and says. Generic, because folds and tables ask often: an existential of a fact would
/// be an allocation.
package protocol EventReader {
    associatedtype Result
    func read(_ type: EventType, _ content: some EventContent) -> Result
}

extension Event {
    package var type: EventType { read(by: TypeReader()) }

    package var subject: EventSubject { read(by: SubjectReader()) }

    /// What evidence stated for the event to happen; `nil` for what Deed or its callers decided.
    package var fact: StatedFact? { read(by: FactReader()) }

    /// The log's format that a program must know to read the event: that of its type, or of the newest member
    /// of its content. A released form is never changed: another one has another number, beside the reader of
    /// this one.
    package var format: LogFormat { read(by: FormatReader()) }

    package var content: any EventContent { read(by: WholeReader()) }
}

private struct TypeReader: EventReader {
    func read(_ type: EventType, _ content: some EventContent) -> EventType { type }
}

private struct SubjectReader: EventReader {
    func read(_ type: EventType, _ content: some EventContent) -> EventSubject { content.subject }
}

private struct FactReader: EventReader {
    func read(_ type: EventType, _ content: some EventContent) -> StatedFact? { content.statedFact }
}

private struct FormatReader: EventReader {
    func read(_ type: EventType, _ content: some EventContent) -> LogFormat {
        max(type.since, content.newestMember)
    }
}

private struct WholeReader: EventReader {
    func read(_ type: EventType, _ content: some EventContent) -> any EventContent { content }
}
