/// What a store can do, and its names for things. Its client declares the profile; the use cases know nothing
/// else about a store.
package protocol StoreProfile: Sendable {
    var store: Store { get }
    /// The kinds of evidence that it issues.
    var kinds: [EvidenceKind] { get }
    /// How back ends submit its evidence.
    var handIns: [HandIn] { get }
    /// The reconciliation steps in which it can be asked.
    var steps: Set<ReconcileStep> { get }
    /// The credentials that an app has for it.
    var credentials: [CredentialMember] { get }
    /// The flag that names an app on the command line, and its help text.
    var appFlag: (name: String, help: String) { get }
    /// Where people set up an app.
    var console: String { get }
    /// How to set an address for notifications there if the store has none.
    var addressCure: String { get }

    /// The average pause between two inquiries for a history, in milliseconds.
    func historyPause(in environment: Environment) -> Int64
    /// How far back it repeats past notifications, in milliseconds.
    func newsReach(in environment: Environment) -> Int64
    /// The credentials in the form in which they are stored; throws if something is wrong with
    /// them.
    func proper(_ credentials: StoreCredentials) throws(InvalidCredential) -> StoreCredentials
}

extension StoreProfile {
    /// The kind of evidence that it sends on its own initiative.
    package var news: EvidenceKind? { kinds.first { $0.content == .news } }
}

/// A member of a body that holds evidence.
package struct HandIn: Sendable {
    package let name: String
    package let kind: EvidenceKind
    package let isList: Bool

    package init(_ name: String, _ kind: EvidenceKind, isList: Bool = false) {
        self.name = name
        self.kind = kind
        self.isList = isList
    }
}

/// How often something may be done; times are in microseconds.
package struct StoreBudget: Hashable, Sendable {
    /// The name under which calls are counted.
    package let name: String
    /// The average pause between two calls.
    package let pause: Int64
    /// How far calls may run ahead of that pace.
    package let burst: Int64

    package init(name: String, pause: Int64, burst: Int64) {
        self.name = name
        self.pause = pause
        self.burst = burst
    }
}

/// Calls about one app, counted across all instances.
package struct StoreTurn: Hashable, Sendable {
    package let app: StoreApp
    package let environment: Environment
    package let budget: StoreBudget

    package init(_ app: StoreApp, in environment: Environment, under budget: StoreBudget) {
        self.app = app
        self.environment = environment
        self.budget = budget
    }
}
