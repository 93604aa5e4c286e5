package import Core
import JSON
package import Telemetry
import Threading

/// The number of purchases of products that are missing from the catalog. Each product causes at most one warning an
/// hour in the log.
package final class UnknownProducts: Sendable {
    private static let pause: Int64 = 3_600_000
    /// The maximum number of remembered products. Once it is reached, other products cause no
    /// warning.
    private static let limit = 1000

    private struct Name: Hashable {
        let project: ProjectID
        let product: ProductKey
    }
    /// When the last warning about each product was logged.
    private let told = Monitor<[Name: Int64]>([:])
    private let counter: Counter
    private let log: Log
    private let clock: @Sendable () -> Instant

    package init(_ metrics: Metrics, log: Log, clock: @escaping @Sendable () -> Instant) {
        counter = metrics.counter(
            "deed_products_unknown_total",
            "Purchases of products that are not in the catalog, counted once per transaction."
        )
        self.log = log
        self.clock = clock
    }

    package func notice(_ product: ProductKey, of project: ProjectID) {
        counter.add()
        let name = Name(project: project, product: product)
        let now = clock().milliseconds
        let isDue = told.change(wake: .none) { told in
            if let last = told[name], now - last < UnknownProducts.pause { return false }
            if told.count >= UnknownProducts.limit {
                told = told.filter { now - $0.value < UnknownProducts.pause }
            }
            if told.count >= UnknownProducts.limit { return false }
            told[name] = now
            return true
        }
        if !isDue { return }
        log.warning(
            "product_unknown",
            [
                "project": .string(project.text), "store": .string(product.store.rawValue),
                "product": .string(product.id.text),
                "remedy": "add it to the catalog: deed catalog apply",
            ])
    }
}
