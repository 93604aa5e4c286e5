import Core
import Crypto
import Postgres
import SQL

/// Rows of `deed.projects` and `deed.keys`.
struct ProjectRows {
    private struct ProjectRow {
        let project: ProjectID
        let createdAt: Instant
        let catalogVersion: Int64
        let reconciledAt: Instant?
        let isSound: Bool?
        let requestedAt: Instant?
    }
    private struct KeyRow {
        let project: ProjectID
        let key: Key
        let digest: Digest32
    }
    private var projects = KeyedRows<ProjectID, ProjectRow>()
    private var keys = KeyedRows<Digest32, KeyRow>()

    mutating func add(_ event: Event, of project: ProjectID, _ state: ProjectState) {
        switch event {
        case .projectCreated, .catalogChanged, .reconciliationStarted, .reconciliationFinished:
            add(state, of: project)
        case .keyCreated(let created): add(state.key(created.key), of: project)
        case .keyRevoked(let revoked): add(state.key(revoked.key), of: project)
        default: break
        }
    }

    mutating func addAll(_ state: ProjectState, of project: ProjectID) {
        add(state, of: project)
        for key in state.keys { add(key, of: project) }
    }

    private mutating func add(_ state: ProjectState, of project: ProjectID) {
        projects.set(
            project,
            ProjectRow(
                project: project, createdAt: state.createdAt ?? .distantPast,
                catalogVersion: state.catalogVersion, reconciledAt: state.reconciledAt,
                isSound: state.isSound,
                requestedAt: state.requestedReconciliation?.startedAt))
    }

    private mutating func add(_ key: Key?, of project: ProjectID) {
        guard let key, let digest = Digest32(hex: key.created.digest) else { return }
        keys.set(digest, KeyRow(project: project, key: key, digest: digest))
    }

    var calls: [Call] {
        (projects.isEmpty ? [] : [projectsCall]) + (keys.isEmpty ? [] : [keysCall])
    }

    private var projectsCall: Call {
        Statement.projectProjects(
            .texts(projects.rows.map(\.project.text)),
            .int8s(projects.rows.map(\.createdAt.milliseconds)),
            .int8s(projects.rows.map(\.catalogVersion)),
            .optionalInt8s(projects.rows.map { $0.reconciledAt?.milliseconds }),
            .bools(projects.rows.map(\.isSound)),
            .optionalInt8s(projects.rows.map { $0.requestedAt?.milliseconds }))
    }

    private var keysCall: Call {
        let rows = keys.rows
        return Statement.projectKeys(
            .byteas(rows.map(\.digest.bytes)),
            .texts(rows.map(\.project.text)),
            .texts(rows.map(\.key.id.text)),
            .texts(rows.map(\.key.created.role.rawValue)),
            .texts(rows.map(\.key.created.name)),
            .int8s(rows.map(\.key.createdAt.milliseconds)),
            .optionalInt8s(rows.map { $0.key.revokedAt?.milliseconds }))
    }
}
