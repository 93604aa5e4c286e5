import Core

extension Catalog {
    /// Warnings about possible misspellings: undeclared names that resemble declared ones.
    var warnings: [CatalogProblem] {
        let declared = (
            entitlements: entitlementTitles.keys.map(\.text).sorted(),
            currencies: currencyTitles.keys.map(\.text).sorted()
        )
        return undeclared(entitlements.map(\.text), in: declared.entitlements, "entitlements")
            + undeclared(currencies.map(\.text), in: declared.currencies, "currencies")
    }

    /// Returns no warnings for a catalog that declares no names.
    private func undeclared(
        _ names: [String], in declared: [String], _ section: String
    ) -> [CatalogProblem] {
        if declared.isEmpty { return [] }
        let known = Set(declared)
        let unknown = names.filter { !known.contains($0) }
        // A large number of unknown names are unlikely to be typing errors, and comparing all of them would take a long
        // time.
        let isFew = unknown.count <= 20
        return unknown.map { name in
            let nearest = isFew ? nearest(to: name, among: declared) : nil
            return CatalogProblem(
                path: section,
                sentence: "does not declare \"\(name)\"; declare it, or correct it where it is used"
                    + (nearest.map { " (the nearest declared name is \"\($0)\")" } ?? ""))
        }
    }
}
