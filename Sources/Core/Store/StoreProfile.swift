/// A store's capabilities and its terms, as declared by its client. The use cases know nothing else about a store.
package protocol StoreProfile: Sendable {
    var store: Store { get }
    /// The kinds of evidence that the store issues.
    var kinds: [EvidenceKind] { get }
    /// The members with which back ends submit the store's evidence.
    var handIns: [HandIn] { get }
    /// The reconciliation steps that can ask the store.
    var steps: Set<ReconcileStep> { get }
    /// The credentials that an app needs for the store.
    var credentials: [CredentialMember] { get }
    /// The command-line flag for naming an app, and its help text.
    var appFlag: (name: String, help: String) { get }
    /// The name of the website where people set up an app.
    var console: String { get }
    /// How to register a notification address with the store if none is set.
    var addressCure: String { get }
    /// The requests that check an app's key if the store cannot send a test notification on request.
    var probes: [StoreProbe] { get }

    /// Returns the average pause between two requests for a history, in milliseconds.
    func historyPause(in environment: Environment) -> Int64
    /// Returns how far back the store can resend past notifications, in milliseconds.
    func newsReach(in environment: Environment) -> Int64
    /// Returns the credentials in the form in which they are stored. Throws if they are invalid.
    func proper(_ credentials: StoreCredentials) throws(InvalidCredential) -> StoreCredentials
    /// Returns the refusal of evidence for an app that the project does not have.
    func foreign(_ app: AppID) -> RefusedEvidence
}

extension StoreProfile {
    /// The kind of evidence that the store sends on its own initiative.
    package var news: EvidenceKind? { kinds.first { $0.content == .news } }
}

/// A member of a request body that contains evidence.
package struct HandIn: Sendable {
    package enum Form: Sendable {
        case text
        case texts
        /// Objects with these members, up to the given number. They are stored as JSON.
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

/// A string member of an object in which evidence is submitted.
package struct HandInMember: Sendable {
    package let name: String
    package let isRequired: Bool
    /// The function that says what is wrong with a value, as the end of a sentence that begins with the member's name.
    package let mistake: @Sendable (String) -> String?

    package init(
        _ name: String, isRequired: Bool = true, mistake: @escaping @Sendable (String) -> String?
    ) {
        self.name = name
        self.isRequired = isRequired
        self.mistake = mistake
    }
}

/// A limit on the rate of calls. Times are in microseconds.
package struct StoreBudget: Hashable, Sendable {
    /// The name under which calls are counted.
    package let name: String
    /// The average pause between two calls.
    package let pause: Int64
    /// How far calls may run ahead of the average pace.
    package let burst: Int64

    package init(name: String, pause: Int64, burst: Int64) {
        self.name = name
        self.pause = pause
        self.burst = burst
    }
}

/// A slot for calls about one app. All instances count calls together.
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
