import Assembly
import Commands
import Core
import Ledger
import PrivatePostgres
import Service

/// A database's content before the set-up changes it.
struct FoundDatabase {
    /// The schema's newest migration; `nil` if a private database does not exist yet.
    private(set) var migration: Int64?
    private(set) var hasNoProject = true
    /// The project that the answers name, if it exists.
    private(set) var project: ProjectState?
    private var projects: Projects?

    init(_ setup: Setup) throws(CommandEnd) {
        let (answers, folder) = (setup.answers, setup.place.dataFolder)
        if answers.databaseURL == nil, !PrivatePostgres.exists(in: folder) { return }
        let database = try setup.invocation.database()
        defer { database.leave() }
        var schema = Schema(database.serviceConnection)
        let standing: SchemaStanding
        do throws(LedgerError) {
            standing = try schema.standing()
        } catch {
            throw .refused(code: "database_refused", sentence: error.detailed)
        }
        if standing.migration >= Schema.needed, let error = standing.error {
            throw .refused(code: "schema_not_current", sentence: error.description)
        }
        migration = min(standing.migration, Schema.needed)
        if standing.migration < Schema.needed { return }
        var list: [ListedProject] = []
        var state: ProjectState?
        var projects: Projects?
        try setup.invocation.withLive { live throws(CommandEnd) in
            list = try ask(live.ledger.projects())
            projects = live.useCases.projects
            if list.contains(where: { $0.project == answers.project }) {
                state = try obey(live.useCases.ledger.existing(answers.project))
            }
        }
        hasNoProject = list.isEmpty
        project = state
        self.projects = projects
    }

    func key(_ text: String) -> Key? {
        guard let project, let projects else { return nil }
        return projects.key(text, in: project)
    }
}
