/// What an event changed of the answer about one entitlement.
package struct AnswerChange: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case started
        case changed
        case ended
    }
    package let entitlement: EntitlementID
    package let kind: Kind
    /// `nil` where nothing was ever held.
    package let before: Entitlement?
    /// `nil` where nothing is held any more, nor ever was as far as is known.
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

    /// What an erasure changed, in order of the entitlement: what was held is not told any more.
    static func all(by erased: CustomerErased) -> [AnswerChange] {
        (erased.ended.map { AnswerChange($0, .ended) }
            + erased.dropped.map { AnswerChange($0, .changed) })
            .sorted { $0.entitlement < $1.entitlement }
    }

    /// Where two answers about a customer differ, in order of the entitlement.
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

/// Which of a project's catalogs the answers at an event follow.
package enum WantedCatalog: Hashable, Sendable {
    case version(Int64)
    /// The last one that counted before the instant, and none after that version.
    case last(before: Instant, through: Int64)

    /// The catalog of the event's own moment: a boundary's is the one of its time, whenever it was published.
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
    /// The edition that is wanted, among some that follow each other without a gap; `nil` where it may be
    /// another one.
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
    /// The catalog that is wanted; `nil` where it is remembered no more.
    package func catalog(_ wanted: WantedCatalog) -> Catalog? { editions[wanted]?.catalog }
}

extension Event {
    /// The boundary or the change of a catalog that it publishes.
    package var notice: AccessNotice? {
        switch self {
        case .accessStarted(let notice), .accessEnded(let notice), .accessEndingSoon(let notice):
            notice
        default: nil
        }
    }
}

extension WantedCatalog {
    /// The newest version that it may be.
    package var newest: Int64 {
        switch self {
        case .version(let version): version
        case .last(_, let newest): newest
        }
    }
}
