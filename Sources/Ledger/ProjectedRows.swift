import Core
import Crypto
import Postgres
import SQL

/// The rows of the projections that a set of events changes, as they must read afterwards.
struct ProjectedRows {
    private struct StreamRow {
        let stream: Stream
        let version: Int64
        let nextChange: Instant?
    }
    private struct GrantKey: Hashable {
        let stream: Stream
        let grant: GrantID
    }
    private struct KeyRow {
        let project: ProjectID
        let key: Key
        let digest: Digest32
    }
    private struct ProjectRow {
        let project: ProjectID
        let createdAt: Instant
    }

    private var customers: [StreamRow] = []
    private var grants: [(key: GrantKey, grant: Grant)] = []
    private var seenGrants: Set<GrantKey> = []
    private var keys: [KeyID: KeyRow] = [:]
    private var projects: [ProjectRow] = []

    /// The row of the stream itself.
    mutating func add(
        _ state: StreamState, of stream: Stream, by catalog: Catalog, now: Instant
    ) {
        guard case .customer(let customer) = state else { return }
        customers.append(
            StreamRow(
                stream: stream, version: customer.version,
                nextChange: customer.entitlements(at: now, catalog: catalog).nextChange))
    }

    /// The rows that an event changes, read from the state that all events left.
    mutating func add(_ event: Event, of stream: Stream, _ states: [Stream: StreamState]) {
        guard let state = states[stream] else { return }
        switch (event, state) {
        case (.grantGiven(let given), .customer(let customer)):
            add(customer.grant(given.grant), of: stream)
        case (.grantRevoked(let revoked), .customer(let customer)):
            add(customer.grant(revoked.grant), of: stream)
        case (.keyCreated(let created), .project(let project)):
            add(project.key(created.key), of: stream.project)
        case (.keyRevoked(let revoked), .project(let project)):
            add(project.key(revoked.key), of: stream.project)
        case (.projectCreated(let created), .project(let project)):
            projects.append(
                ProjectRow(
                    project: created.project, createdAt: project.createdAt ?? .distantPast))
        default:
            break
        }
    }

    private mutating func add(_ grant: Grant?, of stream: Stream) {
        guard let grant else { return }
        let key = GrantKey(stream: stream, grant: grant.id)
        if seenGrants.insert(key).inserted { grants.append((key, grant)) }
    }

    private mutating func add(_ key: Key?, of project: ProjectID) {
        guard let key, let digest = Digest32(hex: key.created.digest) else { return }
        keys[key.id] = KeyRow(project: project, key: key, digest: digest)
    }

    /// One call for each table that has rows.
    var calls: [Call] {
        var calls: [Call] = []
        if !customers.isEmpty { calls.append(customersCall) }
        if !grants.isEmpty { calls.append(grantsCall) }
        if !projects.isEmpty {
            calls.append(
                Statement.projectProjects(
                    .texts(projects.map(\.project.text)),
                    .int8s(projects.map(\.createdAt.milliseconds))))
        }
        if !keys.isEmpty { calls.append(keysCall) }
        return calls
    }

    private var customersCall: Call {
        Statement.projectCustomers(
            .int2s(customers.map(\.stream.shard.number)),
            .texts(customers.map(\.stream.project.text)),
            .texts(customers.map(\.stream.environment.rawValue)),
            .texts(customers.map(\.stream.customer.text)),
            .int8s(customers.map(\.version)),
            .int8s(customers.map { $0.nextChange?.milliseconds }))
    }

    private var grantsCall: Call {
        Statement.projectGrants(
            .int2s(grants.map(\.key.stream.shard.number)),
            .texts(grants.map(\.key.stream.project.text)),
            .texts(grants.map(\.key.stream.environment.rawValue)),
            .texts(grants.map(\.key.stream.customer.text)),
            .texts(grants.map(\.key.grant.text)),
            .texts(grants.map(\.grant.given.entitlement.text)),
            .int8s(grants.map(\.grant.given.start.milliseconds)),
            .int8s(grants.map { $0.grant.given.end?.milliseconds }),
            .int8s(grants.map { $0.grant.revocation?.at.milliseconds }),
            .texts(grants.map(\.grant.given.reason.text)),
            .texts(grants.map { $0.grant.given.ticket?.text }))
    }

    private var keysCall: Call {
        let rows = keys.values.sorted { $0.key.id < $1.key.id }
        return Statement.projectKeys(
            .byteas(rows.map(\.digest.bytes)),
            .texts(rows.map(\.project.text)),
            .texts(rows.map(\.key.id.text)),
            .texts(rows.map(\.key.created.role.rawValue)),
            .texts(rows.map(\.key.created.name)),
            .int8s(rows.map(\.key.createdAt.milliseconds)),
            .int8s(rows.map { $0.key.revokedAt?.milliseconds }))
    }
}
