/// A store by what it can do, and what it calls its things. Its client declares it; the use cases know nothing else
/// about a store.
package protocol StoreProfile: Sendable {
    var store: Store { get }
    /// The kinds of its evidence.
    var kinds: [EvidenceKind] { get }
    /// How back ends hand its evidence in.
    var handIns: [HandIn] { get }
    /// The steps of a reconciliation in which it can be asked.
    var steps: Set<ReconcileStep> { get }
    /// What an app shows it.
    var credentials: [CredentialMember] { get }
    /// The flag that names an app on the command line, and what people read about it.
    var appFlag: (name: String, help: String) { get }
    /// Where people set up an app.
    var console: String { get }
    /// What is to be done there where the store knows no address for notifications.
    var addressCure: String { get }

    /// How far it is from one question for a history to the next, in the long run and in milliseconds.
    func historyPause(in environment: Environment) -> Int64
    /// How far back it tells again what it has told, in milliseconds.
    func newsReach(in environment: Environment) -> Int64
    /// The credentials as they are kept; throws what is wrong with them.
    func proper(_ credentials: StoreCredentials) throws(InvalidCredential) -> StoreCredentials
}

extension StoreProfile {
    /// What it tells by itself.
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

/// How often something may be done, in microseconds.
package struct StoreBudget: Hashable, Sendable {
    /// The name under which it is counted.
    package let name: String
    /// From one to the next, in the long run.
    package let pause: Int64
    /// How far ahead of that pace one may be.
    package let burst: Int64

    package init(name: String, pause: Int64, burst: Int64) {
        self.name = name
        self.pause = pause
        self.burst = burst
    }
}

/// Calls about one app that all instances count together.
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
