/// A catalog before validation. The file reader adds the structural problems that it found in the
/// file, so that all problems are reported together.
package struct CatalogDraft: Sendable {
    package static let productLimit = 10_000

    /// The products in the file's order; `nil` for entries that could not be read.
    package var products: [Product?] = []
    package var entitlementTitles: [EntitlementID: String] = [:]
    package var endingSoon: [EntitlementID: CalendarDuration] = [:]
    package var currencyTitles: [CurrencyID: String] = [:]
    /// The rules in the file's order; `nil` for entries that could not be read.
    package var originalVersionRules: [OriginalVersionRule?] = []
    package private(set) var problems: [CatalogProblem] = []
    /// The readable parts of products that could not be read completely, by index.
    private var fragments: [Int: ProductFragment] = [:]
    /// The paths of problems, and the paths that contain them.
    private var flawed: Set<String> = []

    package init() {}

    /// Adds the readable parts of the next product, if the product could not be read completely.
    package mutating func addProduct(_ fragment: ProductFragment) {
        fragments[products.count] = fragment
        products.append(nil)
    }

    /// Records a problem at a path such as `products[3].duration`.
    package mutating func note(_ path: String, _ sentence: String) {
        problems.append(CatalogProblem(path: path, sentence: sentence))
        flawed.insert(path)
        for (place, byte) in path.utf8.enumerated()
        where byte == UInt8(ascii: ".") || byte == UInt8(ascii: "[") {
            flawed.insert(String(decoding: path.utf8.prefix(place), as: UTF8.self))
        }
    }

    /// Records that the value at a path is empty, unless a problem with that value has already been recorded.
    package mutating func noteEmpty(_ path: String, _ remedy: String) {
        if !flawed.contains(path) { note(path, "is empty; \(remedy)") }
    }

    /// Returns the catalog, or throws all of its problems at once.
    package func validated() throws(InvalidCatalog) -> Catalog {
        var checked = self
        checked.validateProducts()
        checked.validateRules()
        if !checked.problems.isEmpty { throw InvalidCatalog(problems: checked.problems) }
        return Catalog(
            products: products.compactMap(\.self), entitlementTitles: entitlementTitles,
            endingSoon: endingSoon, currencyTitles: currencyTitles,
            rules: originalVersionRules.compactMap(\.self))
    }
}

extension CatalogDraft {
    private mutating func validateProducts() {
        if products.count > CatalogDraft.productLimit {
            note("products", "has \(products.count) products; the limit is \(Self.productLimit)")
        }
        var seen: [ProductKey: Int] = [:]
        for (index, product) in products.enumerated() {
            guard let fragment = product.map(ProductFragment.init) ?? fragments[index] else {
                continue
            }
            validate(fragment, at: "products[\(index)]")
            guard let key = fragment.key else { continue }
            if let first = seen[key] {
                note("products[\(index)].id", "repeats \"\(key.id)\" of products[\(first)]")
            } else {
                seen[key] = index
            }
        }
    }

    private mutating func validate(_ product: ProductFragment, at path: String) {
        guard let terms = product.terms else { return }
        switch terms {
        case .consumable(let credits):
            validate(credits, at: "\(path).credits")
            if !product.entitlements.isEmpty {
                note(
                    "\(path).entitlements",
                    "is not allowed for a consumable, which only adds to balances")
            }
            return
        case .autoRenewable(_, let level):
            if level < 1 { note("\(path).level", "is \(level); the lowest level is 1") }
        case .nonConsumable, .nonRenewing: break
        }
        if product.entitlements.isEmpty {
            noteEmpty("\(path).entitlements", "name at least one entitlement")
        }
    }

    private mutating func validate(_ credits: [CurrencyID: Int64], at path: String) {
        if credits.isEmpty { noteEmpty(path, "state what the consumable adds to a balance") }
        for (currency, amount) in credits.sorted(by: { $0.key < $1.key })
        where !(1...Balances.limit).contains(amount) {
            note(
                "\(path).\(currency)",
                "is out of range; write a whole number from 1 to \(Balances.limit)")
        }
    }

    private mutating func validateRules() {
        for (index, rule) in originalVersionRules.enumerated() {
            guard let rule else { continue }
            let path = "original_app_version[\(index)]"
            if AppVersion(rule.below) == nil {
                note("\(path).below", "is \"\(rule.below)\"; write a version such as \"2.0\"")
            }
            if rule.entitlements.isEmpty {
                noteEmpty("\(path).entitlements", "name at least one entitlement")
            }
        }
    }
}

/// The readable parts of a product that has problems.
package struct ProductFragment: Sendable {
    let key: ProductKey?
    /// `nil` if even the kind could not be read.
    let terms: Product.Terms?
    let entitlements: [EntitlementID]

    package init(key: ProductKey?, terms: Product.Terms?, entitlements: [EntitlementID]) {
        self.key = key
        self.terms = terms
        self.entitlements = entitlements
    }

    fileprivate init(_ product: Product) {
        self.init(key: product.key, terms: product.terms, entitlements: product.entitlements)
    }
}

/// A problem in a catalog, with its path.
package struct CatalogProblem: Hashable, Sendable, CustomStringConvertible {
    package let path: String
    package let sentence: String

    package init(path: String, sentence: String) {
        self.path = path
        self.sentence = sentence
    }

    package var description: String { path.isEmpty ? "it \(sentence)" : "\(path) \(sentence)" }
}

package struct InvalidCatalog: Error, Hashable, CustomStringConvertible {
    package let problems: [CatalogProblem]

    package init(problems: [CatalogProblem]) {
        self.problems = problems
    }

    package var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
