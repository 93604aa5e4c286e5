/// The apps that the operator allows the project's keys to add.
package struct AppAllowances: Hashable, Sendable {
    /// The maximum number of apps that the operator may name.
    package static let countLimit = 1000

    /// The apps, sorted by store and id.
    package private(set) var apps: [AppKey] = []
    package private(set) var isAny = false

    package init() {}

    package func allows(_ key: AppKey) -> Bool { isAny || apps.contains(key) }

    mutating func add(_ allowance: AppAllowance) {
        switch allowance {
        case .any: isAny = true
        case .app(let key):
            if apps.contains(key) { return }
            apps.insert(key, at: apps.firstIndex { key < $0 } ?? apps.endIndex)
        }
    }

    mutating func remove(_ allowance: AppAllowance) {
        switch allowance {
        case .any: isAny = false
        case .app(let key): apps.removeAll { $0 == key }
        }
    }
}
