import CatalogFile
import Commands
import Core
import Service

/// The changes in a catalog file, and the customers affected by them.
struct CatalogPreview {
    let step: CatalogStep
    let counts: AccessCounts

    /// Returns the preview of the applied step.
    func applied(_ step: CatalogStep) -> CatalogPreview {
        CatalogPreview(step: step, counts: counts)
    }

    func text(warnings: [CatalogProblem]) -> String {
        let warned = warnings.map { "warning: \($0)" }
        if step.changes.isEmpty {
            return (warned + ["Nothing changes: the file is the same as version \(step.version)."])
                .joined(separator: "\n")
        }
        let changes = step.changes.map { "  \($0.line)" }
        let tallies = Environment.allCases.map { "  \(tally(in: $0))" }
        let concerned = counts.concerned.map { "  \($0.line)" }
        let more = counts.hasMore ? ["  and more, counted above"] : []
        let unread =
            counts.unread == 0
            ? []
            : [
                "  and \(counts.unread) whose events cannot be read; run: deed audit --projections"
            ]
        let waiting = counts.waitingInOrder.map { "  \($0.product.id): \($0.purchases)" }
        let purchases =
            waiting.isEmpty ? [] : ["Purchases waiting for a new product:"] + waiting
        return
            (warned + ["Compared with version \(step.version):"] + changes
            + ["Access that changes immediately:"] + tallies + concerned + more + unread + purchases)
            .joined(separator: "\n")
    }

    private func tally(in environment: Environment) -> String {
        let gains = counts.gains[environment]?.text ?? "0"
        let losses = counts.losses[environment]?.text ?? "0"
        let name = environment.rawValue.padded(to: 10)
        return "\(name)   customers who gain: \(gains); who lose: \(losses)"
    }
}

extension AccessTally {
    /// For example `3 (ad_free 3, pro 1)`.
    fileprivate var text: String {
        let parts = byEntitlement.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return parts.isEmpty ? "0" : "\(customers) (\(parts.joined(separator: ", ")))"
    }
}

extension AccessCounts.Concerned {
    fileprivate var line: String {
        let parts = change.gained.map { "+\($0)" } + change.lost.map { "-\($0)" }
        return "\(stream.customer) in \(stream.environment.rawValue): "
            + parts.joined(separator: ", ")
    }
}

extension CatalogChange {
    /// For example `~ product com.example.pro: level`.
    fileprivate var line: String {
        let sign =
            switch kind {
            case .added: "+"
            case .removed: "-"
            case .changed: "~"
            }
        let name =
            switch subject {
            case .product(let key):
                "product \(key.id)" + (key.store == .unnamed ? "" : " of \(key.store.rawValue)")
            case .entitlementTitle(let id): "title of the entitlement \(id)"
            case .endingSoon(let id): "ending_soon of the entitlement \(id)"
            case .currencyTitle(let id): "title of the currency \(id)"
            case .originalVersionRules: "original_app_version"
            }
        return "\(sign) \(name)" + (members.isEmpty ? "" : ": " + members.joined(separator: ", "))
    }
}

extension CatalogStep {
    func verdict(isRepetition: Bool) -> String {
        if isRepetition {
            return "This catalog was already applied with the same key, as version \(version)."
        }
        return isApplied ? "The catalog is now version \(version)." : "Nothing was written."
    }
}

extension CatalogFile.Contents {
    var summary: String {
        let warnings = warnings.map { "warning: \($0)" }
        let counts =
            "products: \(catalog.products.count), entitlements: \(catalog.entitlements.count), "
            + "currencies: \(catalog.currencies.count)"
        return (warnings + ["The catalog is fine; it has \(counts)."]).joined(separator: "\n")
    }
}
