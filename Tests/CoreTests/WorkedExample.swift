import Core
import Histories
import Testing

/// An example with the stores, and what the customer may use around its important moments.
struct WorkedExample: CustomTestStringConvertible, Sendable {
    let name: String
    let entitlement: String
    let evidence: [Facts]
    let boundaries: [Boundary]
    var catalog = shop

    init(
        _ name: String, _ entitlement: String, _ evidence: [Facts], _ boundaries: [Boundary],
        catalog: Catalog = shop
    ) {
        self.name = name
        self.entitlement = entitlement
        self.evidence = evidence
        self.boundaries = boundaries
        self.catalog = catalog
    }

    var testDescription: String { name }

    /// Checks the answer 1 ms before each boundary, at it, and 1 ms after it.
    func check() {
        let state = CustomerState(recording: evidence, catalog: catalog)
        for boundary in boundaries {
            for (offset, expected) in [
                (-1, boundary.before), (0, boundary.from), (1, boundary.from),
            ] {
                let instant = boundary.at.advanced(byMilliseconds: Int64(offset))
                let answer = state.entitlements(at: instant, catalog: catalog)[id(entitlement)]
                #expect(
                    WorkedExample.text(answer) == expected,
                    "\(name): \(offset) ms from \(boundary.at.text)")
            }
        }
    }

    /// Returns a text such as `yes active 5.0` or `no expired -5.0`, or `-` if the customer never
    /// had the entitlement.
    static func text(_ answer: Entitlement?) -> String {
        guard let answer else { return "-" }
        return "\(answer.isActive ? "yes" : "no") \(answer.state.rawValue) \(answer.code)"
    }
}

/// A moment at which the answer may change, with the answers before and after it.
struct Boundary: Sendable {
    let at: Instant
    let before: String
    let from: String

    init(_ at: Instant, _ before: String, _ from: String) {
        self.at = at
        self.before = before
        self.from = from
    }
}
