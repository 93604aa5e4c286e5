package import Core
import Synchronization

/// Collects apps for which verified notifications have arrived, and products that were bought but
/// that no catalog contains, since the last call to `take`.
package final class AppNews: Sendable {
    /// The maximum number of each kind that is remembered between two calls.
    private static let limit = 1000

    package struct Noted: Sendable {
        package var apps: Set<StoreApp> = []
        package var products: [ProjectID: Set<ProductKey>] = [:]
    }
    private let noted = Mutex(Noted())

    func note(_ app: StoreApp) {
        noted.withLock { if $0.apps.count < AppNews.limit { $0.apps.insert(app) } }
    }

    func note(_ product: ProductKey, in project: ProjectID) {
        noted.withLock {
            if $0.products[project, default: []].count < AppNews.limit {
                $0.products[project, default: []].insert(product)
            }
        }
    }

    package func take() -> Noted {
        noted.withLock { noted in
            defer { noted = Noted() }
            return noted
        }
    }
}
