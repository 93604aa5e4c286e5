import Core
import Postgres
import SQL

/// Rows of `deed.grants`.
struct GrantRows {
    private struct Row {
        let stream: Stream
        let grant: Grant
    }
    private var keyed = KeyedRows<Owned<GrantID>, Row>()

    mutating func add(_ grant: Grant?, of stream: Stream) {
        guard let grant else { return }
        keyed.set(Owned(stream: stream, thing: grant.id), Row(stream: stream, grant: grant))
    }

    var calls: [Call] {
        if keyed.isEmpty { return [] }
        let grants = keyed.rows.map(\.grant)
        return [
            Statement.projectGrants(
                keyed.rows.map(\.stream),
                .texts(grants.map(\.id.text)),
                .texts(grants.map(\.given.entitlement.text)),
                .int8s(grants.map(\.given.start.milliseconds)),
                .int8s(grants.map { $0.given.end?.milliseconds }),
                .int8s(grants.map { $0.revocation?.at.milliseconds }),
                .texts(grants.map(\.given.reason.text)),
                .texts(grants.map { $0.given.ticket?.text }))
        ]
    }
}
