/// One difference between a catalog and its predecessor.
package struct CatalogChange: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        case added
        case removed
        case changed
    }
    package enum Subject: Hashable, Sendable {
        case product(ProductKey)
        case entitlementTitle(EntitlementID)
        case endingSoon(EntitlementID)
        case currencyTitle(CurrencyID)
        case originalVersionRules
    }
    package let subject: Subject
    package let kind: Kind
    /// The product's members that differ, named as in the catalog file.
    package let members: [String]

    init(_ subject: Subject, _ kind: Kind, members: [String] = []) {
        self.subject = subject
        self.kind = kind
        self.members = members
    }
}

extension Catalog {
    /// Returns the differences from the older catalog. Products come first, and each group is sorted.
    package func changes(from old: Catalog) -> [CatalogChange] {
        let before = Dictionary(uniqueKeysWithValues: old.products.map { ($0.key, $0) })
        let after = Dictionary(uniqueKeysWithValues: products.map { ($0.key, $0) })
        var changes = Catalog.changes(from: before, to: after, CatalogChange.Subject.product) {
            $1.members(differingFrom: $0)
        }
        changes += Catalog.changes(
            from: old.entitlementTitles, to: entitlementTitles,
            CatalogChange.Subject.entitlementTitle)
        changes += Catalog.changes(
            from: old.endingSoon.mapValues(\.text), to: endingSoon.mapValues(\.text),
            CatalogChange.Subject.endingSoon)
        changes += Catalog.changes(
            from: old.currencyTitles, to: currencyTitles, CatalogChange.Subject.currencyTitle)
        if originalVersionRules != old.originalVersionRules {
            changes.append(CatalogChange(.originalVersionRules, .changed))
        }
        return changes
    }

    private static func changes<Key: Hashable & Comparable, Value: Equatable>(
        from old: [Key: Value], to new: [Key: Value], _ subject: (Key) -> CatalogChange.Subject,
        members: (Value, Value) -> [String] = { _, _ in [] }
    ) -> [CatalogChange] {
        Set(old.keys).union(new.keys).sorted().compactMap { key in
            guard let before = old[key] else { return CatalogChange(subject(key), .added) }
            guard let after = new[key] else { return CatalogChange(subject(key), .removed) }
            if before == after { return nil }
            return CatalogChange(subject(key), .changed, members: members(before, after))
        }
    }
}

extension Product {
    fileprivate func members(differingFrom old: Product) -> [String] {
        [
            ("kind", kind != old.kind), ("credits", credits != old.credits),
            ("duration", duration?.text != old.duration?.text),
            ("stacking", stacking != old.stacking), ("group", group != old.group),
            ("level", level != old.level), ("entitlements", entitlements != old.entitlements),
            ("family_shared", isFamilyShared != old.isFamilyShared),
        ].filter(\.1).map(\.0)
    }

    /// How long a non-renewing product lasts.
    package var duration: CalendarDuration? {
        if case .nonRenewing(let duration, _) = terms { duration } else { nil }
    }

    /// What happens when a non-renewing product is bought again.
    package var stacking: Stacking? {
        if case .nonRenewing(_, let stacking) = terms { stacking } else { nil }
    }
}

/// The entitlements that a customer gains and loses when one catalog replaces another.
package struct AccessChange: Hashable, Sendable {
    package let gained: [EntitlementID]
    package let lost: [EntitlementID]

    package var isEmpty: Bool { gained.isEmpty && lost.isEmpty }
}

extension CustomerState {
    /// Returns the entitlements that the customer would gain and lose at `now` under the new catalog.
    package func accessChange(from old: Catalog, to new: Catalog, now: Instant) -> AccessChange {
        let before = Set(entitlements(at: now, catalog: old).active)
        let after = Set(entitlements(at: now, catalog: new).active)
        return AccessChange(
            gained: after.subtracting(before).sorted(), lost: before.subtracting(after).sorted())
    }
}
