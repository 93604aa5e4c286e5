package import Core

/// Reads the notes that instances store in the database.
package protocol NoteReading: Sendable {
    func noteNames() throws(Fault) -> Set<String>
}

/// The names of notes about events that stores reported.
package enum NoteName {
    /// Returns the name of the note that a verified notification about an app has arrived.
    package static func news(of app: StoreApp) -> String {
        "news \(app.project) \(app.key.store.rawValue) \(app.key.id)"
    }

    /// Returns the name of the note that a product was bought although no catalog contained it.
    package static func bought(_ product: ProductKey, in project: ProjectID) -> String {
        "\(boughtPrefix(project))\(product.store.rawValue) \(product.id)"
    }

    fileprivate static func boughtPrefix(_ project: ProjectID) -> String { "bought \(project) " }
}

/// Lists what people must do for a project.
package struct Needs: Sendable {
    private let ledger: any EventLog
    private let notes: any NoteReading
    private let credentials: any CredentialKeeper
    private let now: @Sendable () -> Instant
    /// The stores that can have apps.
    private let stores: Set<Store>
    /// The stores that send notifications.
    private let sending: Set<Store>
    /// Whether the database has a test clock, under which nothing is ever late.
    private let isForTests: Bool

    package init(_ ports: Ports, _ stores: [any StoreProfile], isForTests: Bool) {
        (ledger, notes) = (ports.ledger, ports.notes)
        (credentials, now) = (ports.credentials, ports.now)
        self.isForTests = isForTests
        self.stores = Set(stores.map(\.store))
        sending = Set(stores.filter { $0.news != nil }.map(\.store))
    }

    package func needs(of project: ProjectID) throws(CommandError) -> [ProjectNeed] {
        let state = try ledger.existing(project)
        let sight = try obtain(sight(of: project, state, notes: notes.noteNames()))
        return ProjectCheck.all.flatMap { $0.needs(of: sight) }
    }

    /// Returns what the checks of a project need to know about it.
    package func sight(
        of project: ProjectID, _ state: ProjectState, notes: Set<String>
    ) throws(Fault) -> ProjectSight {
        let prefix = NoteName.boughtPrefix(project)
        let bought = notes.filter { $0.hasPrefix(prefix) }.compactMap { name -> ProductKey? in
            let words = name.dropFirst(prefix.count).split(separator: " ", maxSplits: 1)
            guard words.count == 2, let store = Store(rawValue: String(words[0])),
                let id = try? ProductID(String(words[1]))
            else { return nil }
            return ProductKey(store: store, id: id)
        }
        let heard = state.apps.map(\.key).filter {
            notes.contains(NoteName.news(of: StoreApp(project: project, key: $0)))
        }
        return ProjectSight(
            project: project, state: state,
            credentials: try credentials.statuses(of: project), heard: Set(heard),
            bought: Set(bought), stores: stores, sending: sending, now: now(),
            isForTests: isForTests)
    }
}
