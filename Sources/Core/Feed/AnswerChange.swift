/// How an event changed the answer about one entitlement.
package struct AnswerChange: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case started
        case changed
        case ended
    }
    package let entitlement: EntitlementID
    package let kind: Kind
    /// The entitlement before the event; `nil` if the customer had never held it.
    package let before: Entitlement?
    /// The entitlement after the event; `nil` if the customer does not hold it and, as far as the
    /// log shows, never did.
    package let after: Entitlement?

    fileprivate init?(_ id: EntitlementID, _ before: Entitlement?, _ after: Entitlement?) {
        if before == after { return nil }
        entitlement = id
        self.before = before
        self.after = after
        switch (before?.isActive ?? false, after?.isActive ?? false) {
        case (false, true): kind = .started
        case (true, false): kind = .ended
        default: kind = .changed
        }
    }

    private init(_ id: EntitlementID, _ kind: Kind) {
        entitlement = id
        self.kind = kind
        (before, after) = (nil, nil)
    }

    /// Returns the changes caused by an erasure, sorted by entitlement. They do not include details of the access
    /// that ended.
    static func all(by erased: CustomerErased) -> [AnswerChange] {
        (erased.ended.map { AnswerChange($0, .ended) }
            + erased.dropped.map { AnswerChange($0, .changed) })
            .sorted { $0.entitlement < $1.entitlement }
    }

    /// Returns the differences between two answers about a customer, sorted by entitlement.
    package static func all(from before: [Entitlement], to after: [Entitlement]) -> [AnswerChange] {
        if before == after { return [] }
        var changes: [AnswerChange] = []
        var (old, new) = (before[...], after[...])
        while let id = [old.first?.id, new.first?.id].compactMap(\.self).min() {
            let was = old.first?.id == id ? old.popFirst() : nil
            let `is` = new.first?.id == id ? new.popFirst() : nil
            if let change = AnswerChange(id, was, `is`) { changes.append(change) }
        }
        return changes
    }
}

/// The catalog that applies to the answers at an event.
package enum WantedCatalog: Hashable, Sendable {
    case version(Int64)
    /// The last catalog that took effect before the instant, no newer than this version.
    case last(before: Instant, through: Int64)

    /// Finds the catalog in effect at the event. For a boundary, this is the catalog at the time of the boundary,
    /// regardless of when the boundary was published.
    package init(_ recorded: RecordedEvent) {
        self = .version(recorded.catalogVersion)
        guard let notice = recorded.event.notice else { return }
        if recorded.cause.utf8.starts(with: "clock:".utf8) {
            self = .last(before: notice.at, through: recorded.catalogVersion)
        } else if recorded.cause.utf8.starts(with: "catalog:".utf8),
            let version = Int64(recorded.cause.dropFirst("catalog:".count))
        {
            self = .version(version)
        }
    }
}

extension [CatalogEdition] {
    /// The wanted edition from a list of consecutive editions; `nil` if the list may start too late.
    package subscript(wanted: WantedCatalog) -> CatalogEdition? {
        switch wanted {
        case .version(let version): return last { $0.version == version }
        case .last(let instant, let newest):
            guard let place = lastIndex(where: { $0.version <= newest && $0.since < instant })
            else { return nil }
            let isNextKnown = self[place].version == newest || place + 1 < count
            return isNextKnown ? self[place] : nil
        }
    }
}

extension ProjectState {
    /// Returns the wanted edition, usually without its catalog; `nil` if it is no longer remembered.
    package func edition(_ wanted: WantedCatalog) -> CatalogEdition? { editions[wanted] }
}

extension Event {
    /// The boundary or catalog change that the event publishes.
    package var notice: AccessNotice? {
        switch self {
        case .accessStarted(let notice), .accessEnded(let notice), .accessEndingSoon(let notice):
            notice
        default: nil
        }
    }
}

extension WantedCatalog {
    /// The newest possible version.
    package var newest: Int64 {
        switch self {
        case .version(let version): version
        case .last(_, let newest): newest
        }
    }
}
