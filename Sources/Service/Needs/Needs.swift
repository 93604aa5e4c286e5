package import Core

/// Reads what instances note beside the log.
package protocol NoteReading: Sendable {
    func noteNames() throws(Fault) -> Set<String>
}

/// The names of notes beside the log about what came from stores.
package enum Note {
    /// A proven notification about an app came.
    package static func news(of app: StoreApp) -> String {
        "news \(app.project) \(app.key.store.rawValue) \(app.key.id)"
    }

    /// A product was bought that no catalog knew.
    package static func bought(_ product: ProductKey, in project: ProjectID) -> String {
        "\(boughtPrefix(project))\(product.store.rawValue) \(product.id)"
    }

    fileprivate static func boughtPrefix(_ project: ProjectID) -> String { "bought \(project) " }
}

/// What projects need from people.
package struct Needs: Sendable {
    private let ports: Ports
    /// The flag of each store's apps on the command line.
    private let flags: [Store: String]
    /// Whether a test moves the clock: then nothing is ever late.
    private let isForTests: Bool

    package init(_ ports: Ports, _ stores: [any StoreProfile], isForTests: Bool) {
        self.ports = ports
        self.isForTests = isForTests
        flags = Dictionary(
            stores.map { ($0.store, $0.appFlag.name) }, uniquingKeysWith: { one, _ in one })
    }

    /// Everything that one project needs.
    package func needs(of project: ProjectID) throws(CommandError) -> [ProjectNeed] {
        let state = try ports.ledger.existing(project)
        let sight = try obtain(sight(of: project, state, notes: ports.notes.noteNames()))
        return ProjectCheck.all.flatMap { $0.needs(of: sight) }
    }

    /// A project as its checks see it.
    package func sight(
        of project: ProjectID, _ state: ProjectState, notes: Set<String>
    ) throws(Fault) -> ProjectSight {
        let prefix = Note.boughtPrefix(project)
        let bought = notes.filter { $0.hasPrefix(prefix) }.compactMap { name -> ProductKey? in
            let words = name.dropFirst(prefix.count).split(separator: " ", maxSplits: 1)
            guard words.count == 2, let store = Store(rawValue: String(words[0])),
                let id = try? ProductID(String(words[1]))
            else { return nil }
            return ProductKey(store: store, id: id)
        }
        let heard = state.apps.map(\.key).filter {
            notes.contains(Note.news(of: StoreApp(project: project, key: $0)))
        }
        return ProjectSight(
            project: project, state: state,
            credentials: try ports.credentials.statuses(of: project), heard: Set(heard),
            bought: Set(bought), flags: flags, now: ports.now(), isForTests: isForTests)
    }
}
