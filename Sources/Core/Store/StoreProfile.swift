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
    /// What a check of an app's key asks, where the store sends no test notification on request.
    var probes: [StoreProbe] { get }

    /// The average pause between two inquiries for a history, in milliseconds.
    func historyPause(in environment: Environment) -> Int64
    /// How far back it repeats past notifications, in milliseconds.
    func newsReach(in environment: Environment) -> Int64
    /// The credentials in the form in which they are stored; throws if something is wrong with
    /// them.
    func proper(_ credentials: StoreCredentials) throws(InvalidCredential) -> StoreCredentials
    /// Why evidence of an app is refused that the project does not have.
    func foreign(_ app: AppID) -> RefusedEvidence
}

extension StoreProfile {
    /// The kind of evidence that it sends on its own initiative.
    package var news: EvidenceKind? { kinds.first { $0.content == .news } }
}

/// A member of a body that holds evidence.
package struct HandIn: Sendable {
    package enum Form: Sendable {
        case text
        case texts
        /// At most this many objects with these members, kept as JSON.
        case objects(of: [HandInMember], atMost: Int)
    }
    package let name: String
    package let kind: EvidenceKind
    package let form: Form

    package init(_ name: String, _ kind: EvidenceKind, isList: Bool = false) {
        self.init(name, kind, isList ? .texts : .text)
    }

    package init(_ name: String, _ kind: EvidenceKind, _ form: Form) {
        self.name = name
        self.kind = kind
        self.form = form
    }
}

/// A text in an object that is evidence.
package struct HandInMember: Sendable {
    package let name: String
    package let isRequired: Bool
    /// What is wrong with a text, as the end of a sentence that begins with the member's name.
    package let mistake: @Sendable (String) -> String?

    package init(
        _ name: String, isRequired: Bool = true, mistake: @escaping @Sendable (String) -> String?
    ) {
        self.name = name
        self.isRequired = isRequired
        self.mistake = mistake
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
