/// The content of an event. Each type of content defines the properties that all events with such content share.
package protocol EventContent: Hashable, Sendable {
    /// The subject of the event, within its stream.
    var subject: EventSubject { get }
    /// The statement in evidence that caused the event; `nil` if Deed or one of its callers decided
    /// it.
    var statedFact: StatedFact? { get }
    /// The log format that introduced the newest member of this content.
    var newestMember: LogFormat { get }
    /// Throws if the event gives the customer more than support staff are allowed to give.
    func require(within bounds: SupportBounds) throws(Refusal)
}

// Defaults: most contents result from decisions, still have their first form, and grant nothing.
extension EventContent {
    package var statedFact: StatedFact? { nil }
    package var newestMember: LogFormat { .first }
    package func require(within bounds: SupportBounds) throws(Refusal) {}
}

/// The subject of an event, within its stream.
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

    /// The subject's name in sentences and answers; `nil` if they use the customer's name instead.
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

/// Reads an event's type and content. Generic, because folds and tables call it often, and an
/// existential would allocate memory for each fact.
package protocol EventReader {
    associatedtype Result
    func read(_ type: EventType, _ content: some EventContent) -> Result
}

extension Event {
    package var type: EventType { read(by: TypeReader()) }

    package var subject: EventSubject { read(by: SubjectReader()) }

    /// The statement in evidence that caused the event; `nil` if Deed or one of its callers decided
    /// it.
    package var fact: StatedFact? { read(by: FactReader()) }

    /// The log format that a program must know to read the event: the format that introduced its type, or the newest
    /// member of its content. A released form is never changed. A new form gets a new number, and the reader for the
    /// old form stays.
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
