/// One row of a timeline that shows a customer's access over time.
package struct TimelineRow: Hashable, Sendable {
    package enum Subject: Hashable, Sendable {
        /// Access to an entitlement from all sources combined.
        case entitlement(EntitlementID)
        /// One source of access to the preceding entitlement.
        case source(Entitlement.Source, ProductID?)
        /// A purchase that does not give access to any entitlement.
        case purchase(PurchaseID, ProductID)
    }

    package struct Bar: Hashable, Sendable {
        package let interval: Interval
        package let isGrace: Bool
    }

    package let subject: Subject
    package var bars: [Bar] = []
    /// The times at which products without a duration were bought.
    package var moments: [Instant] = []
}

extension CustomerState {
    /// Returns each entitlement with its runs of access, followed by its sources. Purchases that do not give any
    /// access come last.
    package func timeline(by catalog: Catalog) -> [TimelineRow] {
        var rows: [TimelineRow] = []
        var unlocking = Set<PurchaseID>()
        for (id, runs) in runs(by: catalog).sorted(by: { $0.key < $1.key }) {
            var access = TimelineRow(subject: .entitlement(id))
            access.bars = runs.map { TimelineRow.Bar(interval: $0, isGrace: false) }
            rows.append(access)
            for row in sources(of: id, catalog) {
                if case .source(.purchase(let purchase), _) = row.subject {
                    unlocking.insert(purchase)
                }
                rows.append(row)
            }
        }
        return rows + purchases.filter { !unlocking.contains($0.id) }.compactMap(\.moments)
    }

    /// Returns a row for each product of each source, in the order of the rules.
    private func sources(of id: EntitlementID, _ catalog: Catalog) -> [TimelineRow] {
        var rows: [TimelineRow] = []
        let reasons = explanation(of: id, at: .distantPast, catalog: catalog).reasons
        for reason in reasons where !reason.interval.isEmpty {
            let bar = TimelineRow.Bar(interval: reason.interval, isGrace: reason.rule == .grace)
            let subject = TimelineRow.Subject.source(reason.source, reason.product)
            if let place = rows.firstIndex(where: { $0.subject == subject }) {
                rows[place].bars.append(bar)
            } else {
                rows.append(TimelineRow(subject: subject, bars: [bar]))
            }
        }
        return rows
    }
}

extension Purchase {
    fileprivate var moments: TimelineRow? {
        guard let newest else { return nil }
        return TimelineRow(
            subject: .purchase(id, newest.product), moments: evidence.map(\.effective.purchased))
    }
}
