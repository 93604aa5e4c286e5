/// An event that publishes a boundary, with the reason for publishing it.
package struct DueNotice: Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        /// The clock reached the boundary.
        case clock(Instant)
        /// The catalog with this version replaced its predecessor.
        case catalog(version: Int64)

        /// The cause that the log records for the event.
        package var cause: String {
            switch self {
            case .clock(let instant): "clock:\(instant.text)"
            case .catalog(let version): "catalog:\(version)"
            }
        }
    }

    package let event: Event
    package let reason: Reason
}

/// The time of the last write to a customer's stream, and the version of the catalog at that time.
///
/// Every write to a stream first publishes the changes that the clock has caused since the previous write. All
/// boundaries up to the last write have therefore been published or stated by a fact. No later boundary has.
package struct LastRecord: Hashable, Sendable {
    package let at: Instant
    package let catalogVersion: Int64

    package init(at: Instant, catalogVersion: Int64) {
        self.at = at
        self.catalogVersion = catalogVersion
    }
}

extension CustomerState {
    /// Returns the events to publish up to `now`: the boundaries under each catalog while it was in effect, and the
    /// changes that each new catalog made. `editions` are the open editions with their catalogs.
    package func dueNotices(through now: Instant, by editions: [CatalogEdition]) -> [DueNotice] {
        guard let lastRecord else { return [] }
        var due: [DueNotice] = []
        // The catalog before the oldest remembered edition is unknown.
        var start = max(lastRecord.at, editions.first?.since ?? lastRecord.at)
        for (edition, next) in zip(editions, editions.dropFirst().map(Optional.some) + [nil]) {
            let end = max(start, next.map { min($0.since, now) } ?? now)
            due += boundaries(after: start, by: edition.contents).prefix { $0.at <= end }.map {
                DueNotice(event: event(of: $0, by: edition.contents), reason: .clock($0.at))
            }
            start = end
            if let next { due += notices(from: edition, to: next, at: end) }
        }
        return due
    }

    /// Returns the next instant at which an event must be published. The caller has already derived the runs of
    /// access and published everything that is due.
    package func nextBoundary(
        of runs: [EntitlementID: [Interval]], in project: ProjectState
    ) -> Instant? {
        guard let lastRecord else { return nil }
        let catalogSince = project.editions.last?.since ?? .distantPast
        return nextBoundary(
            of: runs, after: max(lastRecord.at, catalogSince), by: project.catalog)
    }

    /// Returns events for access whose end was published but which new facts restore.
    package func regained(at now: Instant, by catalog: Catalog) -> [Event] {
        if endedAccess.isEmpty { return [] }
        let entitlements = entitlements(at: now, catalog: catalog)
        return endedAccess.sorted { $0.key < $1.key }.compactMap { id, end in
            guard let entitlement = entitlements[id], entitlement.isActive else { return nil }
            // If there is no gap, the access never ended.
            let isGap = end.at < entitlement.run.start
            return .accessStarted(
                AccessNotice(
                    entitlement: id, at: isGap ? entitlement.run.start : end.at,
                    answer: AccessAnswer(entitlement), corrects: isGap ? nil : end.position))
        }
    }

    /// Returns notices of the access that the customer gains or loses when one catalog replaces another.
    private func notices(
        from old: CatalogEdition, to new: CatalogEdition, at instant: Instant
    ) -> [DueNotice] {
        let change = accessChange(from: old.contents, to: new.contents, now: instant)
        let boundaries =
            change.lost.map { Boundary(.ended, $0, at: instant) }
            + change.gained.map { Boundary(.started, $0, at: instant) }
        return boundaries.map {
            DueNotice(
                event: event(of: $0, by: new.contents), reason: .catalog(version: new.version))
        }
    }

    private func event(of boundary: Boundary, by catalog: Catalog) -> Event {
        let answer = entitlements(at: boundary.at, catalog: catalog)[boundary.entitlement]
        let notice = AccessNotice(
            entitlement: boundary.entitlement, at: boundary.at,
            answer: answer.map { AccessAnswer($0) } ?? AccessAnswer.none)
        return switch boundary.kind {
        case .started: .accessStarted(notice)
        case .ended: .accessEnded(notice)
        case .endingSoon: .accessEndingSoon(notice)
        }
    }
}
